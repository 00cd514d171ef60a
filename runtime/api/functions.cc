// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/handles.h"
#include "runtime/library/function_library.h"
#include "runtime/library/registry.h"

using mxc::runtime::FunctionLibrary;
using mxc::runtime::Guarded;
using mxc::runtime::LoadFunctionLibrary;
using mxc::runtime::RegisterFunction;
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

mxc_status* mxc_load_functions(const char* path) {
  FunctionLibrary entry = nullptr;
  mxc_status* failure = Guarded({{path, "path"}}, [&]() -> Status {
    if (*path == '\0') {
      return Fail(StatusCode::kInvalidArgument, "a library without a path");
    }
    const auto loaded = LoadFunctionLibrary(path);
    if (loaded.ok()) entry = *loaded;
    return loaded.status();
  });
  if (failure != nullptr || entry == nullptr) return failure;
  return entry(&mxc_register_function);
}
