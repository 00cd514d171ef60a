// SPDX-License-Identifier: Apache-2.0
// Real numbers as levels of few bits: x ≈ (level − zero) · scale.
#pragma once

#include "frontend/onnx/operators/few_bits.h"

namespace mxc::onnx {

// Levels of the type of `data_type` for x / scale, of which x may be of any
// float type, rounded to even, and `zero` added to what is rounded; it may be
// empty. `scale` and `zero` broadcast to x, and are f32.
Value Quantized(Call& c, Value quotient, Value zero, int32_t data_type,
                bool saturate = true);
// (level − zero) · scale, of the type of `scale`.
Value Dequantized(Call& c, Value level, Value scale, Value zero);
// Input `i`, if it is there, in f32; empty where it is known to be all zeros.
Value ZeroPoint(Call& c, int i);
// The same of one element, of rank 0.
Value ScalarZeroPoint(Call& c, int i);

// Levels from 0 to 255 of all of x, in f32, where they follow from its extremes.
struct DynamicLevels {
  Value level, scale, zero;
};
DynamicLevels DynamicallyQuantized(Call& c, Value x);

// A scalar input in f32, under a shape that broadcasts.
Value ScaleOf(Call& c, int i, const Extents& shape = {});

}  // namespace mxc::onnx
