// SPDX-License-Identifier: Apache-2.0
// Operators that compute each element by itself, of operands that have none.
#pragma once

#include <vector>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// Where an operand has no elements its operator's rule is run for one element of
// each, to learn the types of its results.
class NoElements {
 public:
  // Puts the single elements in the operands' places if one of those is empty.
  explicit NoElements(std::vector<Operand*>& inputs);
  // Then: empties the results, which get the shape that the operands broadcast
  // to; else nothing. Refuses operands that do not broadcast.
  void GiveResults(Call& call) const;

 private:
  std::vector<Operand> single_;
  Extents dims_;
  bool broadcast_ = true;
};

}  // namespace mxc::onnx
