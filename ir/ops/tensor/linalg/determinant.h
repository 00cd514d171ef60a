// SPDX-License-Identifier: Apache-2.0
// What the determinant and its logarithm share.
#pragma once

#include "ir/ops/tensor/linalg/factorization.h"

namespace mxc {

// Every output has one number for each matrix of the input.
//   C1  the input holds square matrices, of at most kMostUnrolled rows
void DeterminantTypes(TypeInference& t);

// The diagonal that elimination leaves, [matrices…, n].
Value EliminatedDiagonal(GraphBuilder& b, Value a);
// A reduction of that.
Value SumOfPivots(GraphBuilder& b, Value diagonal);
Value ProductOfPivots(GraphBuilder& b, Value diagonal);
// factor · A⁻ᵀ, with a factor for each matrix of input 0.
Value TimesInverseTransposed(GradientBuilder& g, Value factor);

}  // namespace mxc
