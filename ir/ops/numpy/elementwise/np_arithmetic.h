// SPDX-License-Identifier: Apache-2.0
// NumPy's functions that mx.sym lacks.
#pragma once

#include "ir/program/expr.h"

namespace mxc::np {

// Conditions; integers are neither.
Expr IsNan(const Expr& x);
Expr IsInfinite(const Expr& x, bool positive, bool negative);
// x < 0, or x is −0. NaN counts as positive.
Expr IsNegative(const Expr& x);

// The angle of the point (x, y), from −π to π.
Expr Arctan2(Expr y, Expr x);
// The magnitude of `a` with the sign of `b`.
Expr CopySign(Expr a, Expr b);
// a · 2ᵇ
Expr Ldexp(Expr a, Expr b);
// Of integers, as two's complement.
Expr BitwiseAnd(Expr a, Expr b);
Expr BitwiseOr(Expr a, Expr b);
Expr BitwiseXor(Expr a, Expr b);

}  // namespace mxc::np
