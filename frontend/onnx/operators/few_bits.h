// SPDX-License-Identifier: Apache-2.0
// Numbers of few bits: what they stand for, and how others are rounded to them.
// int8 and the like are held as they are, int4 and int2 as int8, floats of 8
// bits and fewer as float32 (tensor_data.h).
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

struct IntegerRange {
  double least, greatest;
  int bits;
};
// nullopt: no integers of at most 16 bits.
std::optional<IntegerRange> IntegerRangeOf(int32_t data_type);
// Returns whether it is a float of 8 bits or fewer that numbers can be rounded
// to.
bool IsSmallFloat(int32_t data_type);

// x of float32 as values of a small float, which stay float32. Ties go to even;
// beyond the greatest one: it, or without `saturate` what the type has there,
// infinity or NaN.
Value RoundedToSmallFloat(Call& c, Value x, int32_t data_type, bool saturate);
// x as elements of `data_type`, out of whose range the low bits of integers stay.
// Powers of two, FLOAT8E8M0, are rounded as the node's attribute says.
Value CastToNarrow(Call& c, Value x, int32_t data_type, bool saturate);

// Halves go to even.
Value RoundToEven(Call& c, Value x);
Value Limited(Call& c, Value x, double least, double greatest);

}  // namespace mxc::onnx
