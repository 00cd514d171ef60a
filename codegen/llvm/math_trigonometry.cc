// SPDX-License-Identifier: Apache-2.0
// f64: circular and hyperbolic functions and their inverses.
#include <utility>

#include "codegen/llvm/math_f64.h"

namespace mxc::math_f64 {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;

struct Reduced {
  FloatValue r;       // |r| ≤ π/4
  IntValue quadrant;  // x = quadrant · π/2 + r
};

Reduced ReduceByHalfPi(FloatValue x) {
  // π/2 in three parts, each with trailing zeros.
  constexpr double kPart1 = 1.57079632673412561417e+00;
  constexpr double kPart2 = 6.07710050630396597660e-11;
  constexpr double kPart3 = 2.02226624879595063154e-21;
  const FloatValue bounded = AtLeast(AtMost(x, 0x1p50), -0x1p50);
  const FloatValue n = RoundEven(bounded * (1 / kHalfPi));
  FloatValue r = MulAdd(n, -kPart1, bounded);
  r = MulAdd(n, -kPart3, MulAdd(n, -kPart2, r));
  return {AtLeast(AtMost(r, 0.8), -0.8), ToInt(n)};
}

FloatValue SinSeries(FloatValue r) {
  const FloatValue z = r * r;
  const FloatValue p =
      Polynomial(z, {-1.0 / 121645100408832000, 1.0 / 355687428096000,
                     -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                     1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  return MulAdd(r * z, p, r);
}

FloatValue CosSeries(FloatValue r) {
  const FloatValue z = r * r;
  const FloatValue p =
      Polynomial(z, {1.0 / 2432902008176640000, -1.0 / 6402373705728000,
                     1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                     -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24});
  return MulAdd(z * z, p, 1 - 0.5 * z);
}

std::pair<FloatValue, FloatValue> SinCos(FloatValue x) {
  const auto [r, quadrant] = ReduceByHalfPi(x);
  const FloatValue s = SinSeries(r), c = CosSeries(r);
  const MaskValue swap = (quadrant & 1) == 1;
  const FloatValue sine = Choose(swap, c, s), cosine = Choose(swap, s, c);
  const MaskValue sine_negative = (quadrant & 2) == 2;
  const MaskValue cosine_negative = ((quadrant + 1) & 2) == 2;
  // NaN of infinities and NaN: x − x.
  const MaskValue finite = Abs(x) < kInfinity;
  return {Choose(finite, Choose(sine_negative, -sine, sine), x - x),
          Choose(finite, Choose(cosine_negative, -cosine, cosine), x - x)};
}

}  // namespace

FloatValue Sin(FloatValue x) { return Choose(x == 0.0, x, SinCos(x).first); }

FloatValue Cos(FloatValue x) { return SinCos(x).second; }

FloatValue Tan(FloatValue x) {
  const auto [sine, cosine] = SinCos(x);
  return Choose(x == 0.0, x, sine / cosine);
}

// |x| > 1 by π/2 − atan(1/x), then tan(π/8) < t by π/4 + atan((t−1)/(t+1)).
FloatValue Atan(FloatValue x) {
  const FloatValue a = Abs(x);
  const MaskValue large = a > 1.0;
  const FloatValue t = Choose(large, 1 / a, a);
  const MaskValue middle = t > 0.41421356237309503;
  const FloatValue u = Choose(middle, (t - 1) / (t + 1), t);
  const FloatValue z = u * u;
  const FloatValue p =
      Polynomial(z, {1.0 / 41,  -1.0 / 39, 1.0 / 37,  -1.0 / 35, 1.0 / 33,
                     -1.0 / 31, 1.0 / 29,  -1.0 / 27, 1.0 / 25,  -1.0 / 23,
                     1.0 / 21,  -1.0 / 19, 1.0 / 17,  -1.0 / 15, 1.0 / 13,
                     -1.0 / 11, 1.0 / 9,   -1.0 / 7,  1.0 / 5,   -1.0 / 3});
  const FloatValue series = MulAdd(u * z, p, u);
  const FloatValue small = Choose(middle, kHalfPi / 2 + series, series);
  const FloatValue y = Choose(large, kHalfPi - small, small);
  return Choose(IsNan(x), x, CopySign(y, x));
}

FloatValue Asin(FloatValue x) {
  const FloatValue y = Atan(x / Sqrt((1 - x) * (1 + x)));
  return Choose(x == 0.0, x, y);
}

FloatValue Acos(FloatValue x) { return 2 * Atan(Sqrt((1 - x) / (1 + x))); }

// (eˣ − e⁻ˣ) / 2 by expm1, halved before it can overflow.
FloatValue Sinh(FloatValue x) {
  const FloatValue a = Abs(x), e = Expm1(a);
  const FloatValue moderate = 0.5 * (e + e / (e + 1));
  const FloatValue half = Exp(a * 0.5);
  const FloatValue y = Choose(a > 40.0, 0.5 * half * half, moderate);
  return Choose(IsNan(x), x, CopySign(y, x));
}

FloatValue Cosh(FloatValue x) {
  const FloatValue half = Exp(Abs(x) * 0.5), e = half * half;
  return Choose(Abs(x) > 40.0, 0.5 * half * half, 0.5 * (e + 1 / e));
}

FloatValue Tanh(FloatValue x) {
  const FloatValue e = Expm1(2 * AtMost(Abs(x), 20));
  return Choose(IsNan(x), x, CopySign(e / (e + 2), x));
}

FloatValue Asinh(FloatValue x) {
  const FloatValue a = Abs(x);
  const FloatValue moderate = Log1p(a + a * a / (1 + Sqrt(a * a + 1)));
  const FloatValue large = Log(a) + 0.69314718055994530942;
  return CopySign(Choose(a > 1e9, large, moderate), x);
}

FloatValue Acosh(FloatValue x) {
  const FloatValue t = x - 1;
  const FloatValue moderate = Log1p(t + Sqrt(t * (t + 2)));
  return Choose(x > 1e9, Log(x) + 0.69314718055994530942, moderate);
}

FloatValue Atanh(FloatValue x) {
  const FloatValue a = Abs(x);
  return CopySign(0.5 * Log1p(2 * a / (1 - a)), x);
}

}  // namespace mxc::math_f64
