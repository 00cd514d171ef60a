// SPDX-License-Identifier: Apache-2.0
// Operators that count: start, start + step, start + 2 · step, ….
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// start + position · step, for an integer position, in the given type.
Expr Progression(const Expr& position, double start, double step, DType dtype);
// The same, counted in the type itself: integers from the whole part of start by
// that of step.
Expr Counting(const Expr& position, double start, double step, DType dtype);

}  // namespace mxc
