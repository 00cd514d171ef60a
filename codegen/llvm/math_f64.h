// SPDX-License-Identifier: Apache-2.0
// All functions in f64 arithmetic, to 1e-12 of the value or better. f32 uses
// those that math_f32.h does not have, rounded.
#pragma once

#include "codegen/llvm/float_value.h"

namespace mxc::math_f64 {

FloatValue Exp(FloatValue x);
FloatValue Expm1(FloatValue x);
FloatValue Log(FloatValue x);
FloatValue Log1p(FloatValue x);
FloatValue Log2(FloatValue x);
FloatValue Log10(FloatValue x);
FloatValue Cbrt(FloatValue x);
FloatValue Pow(FloatValue x, FloatValue y);
FloatValue Mod(FloatValue x, FloatValue y);

// Arguments beyond 2^30 lose accuracy in proportion; the results stay in range.
FloatValue Sin(FloatValue x);
FloatValue Cos(FloatValue x);
FloatValue Tan(FloatValue x);
FloatValue Asin(FloatValue x);
FloatValue Acos(FloatValue x);
FloatValue Atan(FloatValue x);
FloatValue Sinh(FloatValue x);
FloatValue Cosh(FloatValue x);
FloatValue Tanh(FloatValue x);
FloatValue Asinh(FloatValue x);
FloatValue Acosh(FloatValue x);
FloatValue Atanh(FloatValue x);

FloatValue Erf(FloatValue x);
FloatValue Erfinv(FloatValue x);
FloatValue Gamma(FloatValue x);     // NaN at negative integers, ±∞ at ±0
FloatValue LogGamma(FloatValue x);  // log |Γ(x)|
FloatValue Digamma(FloatValue x);   // NaN at 0 and negative integers

}  // namespace mxc::math_f64
