// SPDX-License-Identifier: Apache-2.0
// The operators of ONNX that have a rule.
#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// The newest versions that operators.def was written for. Of a newer one an
// operator may mean something else.
inline constexpr int64_t kNewestOpset = 28;
inline constexpr int64_t kNewestIr = 14;

struct Operation {
  Rule rule = nullptr;  // null: there is none
  // The input whose elements the results are, so that they are of its type in the
  // file, too (int4); -1: none.
  int moved = -1;
  // Whether an element of the result is made of one of each input, so that what
  // comes of inputs without elements needs no rule.
  bool each = false;
};

// What is known of an operator of a domain ("" is ONNX's own) at a version of it.
Operation FindOperation(std::string_view domain, std::string_view name,
                        int64_t opset);
// Returns whether there is one at any version.
bool IsKnown(std::string_view domain, std::string_view name);

}  // namespace mxc::onnx
