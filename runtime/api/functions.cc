// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/handles.h"
#include "runtime/library/function_library.h"
#include "runtime/library/operators.h"
#include "runtime/library/registry.h"
#include "runtime/mxc_operators.h"

using mxc::runtime::FunctionLibrary;
using mxc::runtime::Guarded;
using mxc::runtime::LoadFunctionLibrary;
using mxc::runtime::ReadOptions;
using mxc::runtime::RegisterFunction;
using mxc::runtime::RegisterOperator;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;

mxc_status* mxc_register_function(const char* name, uint32_t version,
                                  mxc_function function, void* user_data) {
  return Guarded(
      {{name, "name"}, {reinterpret_cast<void*>(function), "function"}},
      [&]() -> Status {
        if (*name == '\0') {
          return Fail(StatusCode::kInvalidArgument,
                      "a function without a name");
        }
        return RegisterFunction(name, version, {function, user_data});
      });
}

mxc_status* mxc_register_operator(const mxc_operator* op) {
  return Guarded({{op, "op"}}, [&]() -> Status {
    const auto read = ReadOptions<mxc_operator>(op, mxc_operator());
    if (!read.ok()) return read.status();
    if (read->name == nullptr || *read->name == '\0') {
      return Fail(StatusCode::kInvalidArgument, "an operator without a name");
    }
    if (read->forward == nullptr) {
      return Fail(StatusCode::kInvalidArgument,
                  "operator '%s' has no function forward", read->name);
    }
    return RegisterOperator(*read);
  });
}

mxc_status* mxc_load_functions(const char* path) {
  FunctionLibrary entries;
  mxc_status* failure = Guarded({{path, "path"}}, [&]() -> Status {
    if (*path == '\0') {
      return Fail(StatusCode::kInvalidArgument, "a library without a path");
    }
    const auto loaded = LoadFunctionLibrary(path);
    if (loaded.ok()) entries = *loaded;
    return loaded.status();
  });
  if (failure == nullptr && entries.functions != nullptr) {
    failure = entries.functions(&mxc_register_function);
  }
  if (failure == nullptr && entries.operators != nullptr) {
    failure = entries.operators(&mxc_register_operator);
  }
  return failure;
}
