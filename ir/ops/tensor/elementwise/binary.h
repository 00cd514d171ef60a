// SPDX-License-Identifier: Apache-2.0
// Operators of two inputs, lhs and rhs, of one element type. Their gradient is
// that of the function; a file whose operator differs says so.
#pragma once

#include <string>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {

// The inputs have one shape.
// C1  lhs and rhs have the same shape
Op<> ElementwiseOperator(std::string name, std::string doc, BinaryFunction f);

// NumPy's broadcasting: the shapes align at their last axis, and an axis of
// extent 1, or none, is repeated.
// C1  extents of an axis are equal, or one of them is 1
Op<> BroadcastOperator(std::string name, std::string doc, BinaryFunction f);
// The types of such an operator.
void BroadcastTypes(TypeInference& t);
// The output's shape alone, of all inputs.
void BroadcastShapes(TypeInference& t);

}  // namespace mxc
