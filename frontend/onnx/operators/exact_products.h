// SPDX-License-Identifier: Apache-2.0
// Sums of products of integers. They are exact: in float32 where no partial sum
// can exceed 2^24, as a sum of such sums where they could, in float64 where even
// a single term's could.
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// An operand of such a sum: whole numbers in f32, at most `bound` in size.
struct WholeNumbers {
  Value value;
  double bound;
};
// Input `i` less its zero point, input `zero` (-1: none), which has the shape
// `zero_shape`, or one element.
WholeNumbers WholeNumbersOf(Call& c, int i, int zero,
                            const Extents& zero_shape);
// a [M, K] · b [K, N] and the like, with leading axes, as numpy.matmul; i32.
Value ExactMatMul(Call& c, const WholeNumbers& a, const WholeNumbers& b);
// The convolution that the node's attributes say, of input 0 as x by input
// `weight` as w; i32.
Value ExactConvolution(Call& c, int weight, const WholeNumbers& x,
                       const WholeNumbers& w);
// The shape of a zero point or scale, input `i`, of the rows of a matrix, or of
// its columns, to broadcast to the operand.
Extents AlongRows(Call& c, int i, int rank);
Extents AlongColumns(Call& c, int i, int rank);

}  // namespace mxc::onnx
