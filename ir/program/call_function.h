// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of functions that steps may call: what the
// interpreter computes in their place, and the room that they need. Functions
// that it does not know are a user's: the network says what they need, and
// nothing but a loaded library can compute them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/program/step_values.h"

namespace mxc {

struct Call;

struct CallFunction {
  std::string_view name = "";
  int version = 1;
  // Bytes for operands of these types: inputs, then outputs.
  int64_t (*workspace)(const std::vector<TensorType>& operands) = nullptr;
  void (*interpret)(const Call& call, StepValues& values) = nullptr;
  // Floating-point operations, counted from the mathematics.
  double (*flops)(const std::vector<TensorType>& operands) = nullptr;
};

// Null if no function of call_functions.def has that name and version.
const CallFunction* FindCallFunction(std::string_view name, int version);

// How the interpreter computes a user's function; set once, before any thread
// interprets. Without it the outputs are NaN.
using UserCall = void (*)(const Call& call, StepValues& values);
void SetUserCall(UserCall compute);
UserCall FindUserCall();

}  // namespace mxc
