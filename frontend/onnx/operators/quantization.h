// SPDX-License-Identifier: Apache-2.0
// Numbers of few bits: what they stand for, and how others are rounded to them.
// int8 and the like are held as they are, int4 and int2 as int8, floats of 8
// bits and fewer as float32 (tensor_data.h).
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// --- types of few bits, by TensorProto.DataType

struct IntegerRange {
  double least, greatest;
  int bits;
};
// nullopt: no integers of at most 32 bits.
std::optional<IntegerRange> IntegerRangeOf(int32_t data_type);
// Whether it is a float of 8 bits or fewer that numbers can be rounded to.
bool IsSmallFloat(int32_t data_type);

// x of float32 as values of a small float, which stay float32. Ties go to even;
// beyond the greatest one: it, or without `saturate` what the type has there,
// infinity or NaN.
Value RoundedToSmallFloat(Call& c, Value x, int32_t data_type, bool saturate);
// x as elements of `data_type`, out of whose range the low bits stay.
Value CastToNarrow(Call& c, Value x, int32_t data_type, bool saturate);

// --- x ≈ (level − zero) · scale

// Levels of the type of `data_type` for x / scale, of which x may be of any
// float type, rounded to even, and `zero` added to what is rounded; it may be
// empty. `scale` and `zero` broadcast to x, and are f32.
Value Quantized(Call& c, Value quotient, Value zero, int32_t data_type,
                bool saturate = true);
// (level − zero) · scale, of the type of `scale`.
Value Dequantized(Call& c, Value level, Value scale, Value zero);
// Input `i`, if it is there, in f32; empty where it is known to be all zeros.
Value ZeroPoint(Call& c, int i);

// Levels from 0 to 255 of all of x, in f32, where they follow from its extremes.
struct DynamicLevels {
  Value level, scale, zero;
};
DynamicLevels DynamicallyQuantized(Call& c, Value x);

// --- sums of products that are exact

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

// A scalar input in f32, under a shape that broadcasts.
Value ScaleOf(Call& c, int i, const Extents& shape = {});

}  // namespace mxc::onnx
