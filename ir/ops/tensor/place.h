// SPDX-License-Identifier: Apache-2.0
// The gradient of slices: the head, laid into zeros.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// Zeros of `shape` in which element k of `value` stands at begin + k · step,
// for every axis.
Value PlaceInZeros(GradientBuilder& g, Value value, const Shape& shape,
                   const Extents& begin, const Extents& step);

}  // namespace mxc
