// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/operators.h"

#include <map>
#include <mutex>

#include "runtime/library/registry.h"

namespace mxc::runtime {
namespace {

struct Operators {
  std::mutex mutex;
  std::map<std::string, mxc_operator> by_name;  // whose keys are their names
};

Operators& TheOperators() {
  static Operators operators;
  return operators;
}

}  // namespace

std::string ForwardOf(const mxc_operator& op) { return op.name; }
std::string BackwardOf(const mxc_operator& op) {
  return std::string(op.name) + "_backward";
}

Status RegisterOperator(const mxc_operator& op) {
  Operators& operators = TheOperators();
  const std::lock_guard lock(operators.mutex);
  if (operators.by_name.contains(op.name)) {
    return Fail(StatusCode::kInvalidArgument,
                "an operator '%s' is registered already", op.name);
  }
  Status status =
      RegisterFunction(ForwardOf(op), op.version, {op.forward, op.user_data});
  if (status.ok() && op.backward != nullptr) {
    status = RegisterFunction(BackwardOf(op), op.version,
                              {op.backward, op.user_data});
  }
  if (!status.ok()) return status;
  const auto added = operators.by_name.emplace(op.name, op).first;
  added->second.name = added->first.c_str();
  return {};
}

const mxc_operator* FindOperator(const std::string& name) {
  Operators& operators = TheOperators();
  const std::lock_guard lock(operators.mutex);
  const auto found = operators.by_name.find(name);
  return found == operators.by_name.end() ? nullptr : &found->second;
}

}  // namespace mxc::runtime
