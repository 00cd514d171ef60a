// SPDX-License-Identifier: Apache-2.0
#include "ir/program/call_function.h"

namespace mxc {
namespace {

UserCall user_call = nullptr;

}  // namespace

void SetUserCall(UserCall compute) { user_call = compute; }

UserCall FindUserCall() { return user_call; }

#define MXC_CALL_FUNCTION(name, version, Function) CallFunction Function();
#include "ir/program/call_functions.def"
#undef MXC_CALL_FUNCTION

const CallFunction* FindCallFunction(std::string_view name, int version) {
  static const std::vector<CallFunction> kFunctions = [] {
    std::vector<CallFunction> functions;
#define MXC_CALL_FUNCTION(word, number, Function) \
  functions.push_back(Function());                \
  functions.back().name = #word;                  \
  functions.back().version = number;
#include "ir/program/call_functions.def"
#undef MXC_CALL_FUNCTION
    return functions;
  }();
  for (const CallFunction& function : kFunctions) {
    if (function.name == name && function.version == version) return &function;
  }
  return nullptr;
}

}  // namespace mxc
