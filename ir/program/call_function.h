// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of functions that steps may call: what the
// interpreter computes in their place, and the room that they need.
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

// Null if no function has that name and version.
const CallFunction* FindCallFunction(std::string_view name, int version);

}  // namespace mxc
