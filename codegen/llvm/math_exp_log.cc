// SPDX-License-Identifier: Apache-2.0
// f64: exponentials, logarithms, roots and powers.
#include "codegen/llvm/math_f64.h"

namespace mxc::math_f64 {
namespace {

// ln 2 in two parts, the first with trailing zeros.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;

FloatValue PowerOfTwo(IntValue exponent, FloatValue like) {
  return FromBits(ShiftLeft(exponent + 1023, 52), like);
}

// 1/n! for n = 13 … 2: (eʳ − 1 − r) / r² for |r| ≤ 0.36.
FloatValue ExpTail(FloatValue r) {
  return Polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
                        1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                        1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2});
}

// 2 atanh(s) for |s| ≤ 0.172, where s² is given too.
FloatValue AtanhSeries(FloatValue s) {
  const FloatValue z = s * s;
  const FloatValue p =
      Polynomial(z, {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                     2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
  return MulAdd(s * z, p, 2 * s);
}

}  // namespace

FloatValue Exp(FloatValue x) {
  const FloatValue c = AtMost(AtLeast(x, -746), 710);
  const FloatValue n = RoundEven(c * 1.44269504088896341);
  const FloatValue r = MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, c));
  const FloatValue y = MulAdd(r * r, ExpTail(r), r) + 1;
  const IntValue k = ToInt(n), half = ShiftRight(k, 1);
  const FloatValue scaled = y * PowerOfTwo(half, x) * PowerOfTwo(k - half, x);
  return Choose(IsNan(x), x, scaled);
}

FloatValue Expm1(FloatValue x) {
  const FloatValue near = MulAdd(x * x, ExpTail(x), x);
  const FloatValue y = Choose(Abs(x) < 0.35, near, Exp(x) - 1);
  return Choose(x == 0.0, x, y);
}

FloatValue Log(FloatValue x) {
  constexpr int64_t kLeastNormal = int64_t{1} << 52;
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const MaskValue tiny = Bits(x) < Bits(x).Of(kLeastNormal);
  const FloatValue y = Choose(tiny, x * 0x1p54, x);
  const IntValue e = ShiftRight(Bits(y) - kSqrtHalf, 52);
  const FloatValue m = FromBits(Bits(y) - ShiftLeft(e, 52), x);
  const FloatValue exponent = ToFloat(e, x) + Choose(tiny, -54.0, x.Of(0));
  const FloatValue log_m = AtanhSeries((m - 1) / (m + 1));
  const FloatValue sum =
      MulAdd(exponent, kLn2High, MulAdd(exponent, kLn2Low, log_m));
  const FloatValue finite = Choose(x == kInfinity, x, sum);
  const FloatValue at_zero = Choose(x == 0.0, -kInfinity, finite);
  return Choose((x < 0.0) | IsNan(x), kNan, at_zero);
}

FloatValue Log1p(FloatValue x) {
  const FloatValue near = AtanhSeries(x / (2 + x));
  const FloatValue y = Choose(Abs(x) < 0.3, near, Log(1 + x));
  return Choose(x == 0.0, x, y);
}

FloatValue Log2(FloatValue x) { return Log(x) * 1.44269504088896340736; }
FloatValue Log10(FloatValue x) { return Log(x) * 0.43429448190325182765; }

// exp(log |x| / 3), mended by one step of Newton's.
FloatValue Cbrt(FloatValue x) {
  const FloatValue a = Abs(x);
  const FloatValue guess = Exp(Log(a) / 3);
  const FloatValue square = guess * guess;
  const FloatValue y = guess - (guess - a / square) / 3;
  const MaskValue special = (a == 0.0) | (a == kInfinity) | IsNan(x);
  return Choose(special, x, CopySign(y, x));
}

// C's pow: 1 where x is 1 or y is 0, NaN for negative x and y not an integer.
FloatValue Pow(FloatValue x, FloatValue y) {
  const FloatValue a = Abs(x);
  const MaskValue integer = Trunc(y) == y;
  const FloatValue half = y * 0.5;
  const MaskValue odd = integer & !(Trunc(half) == half);
  const FloatValue magnitude = Exp(y * Log(a));
  const MaskValue negative = Bits(x) < Bits(x).Of(0);
  FloatValue result = Choose(odd & negative, -magnitude, magnitude);
  result = Choose((x < 0.0) & !integer & !(a == kInfinity), kNan, result);
  const MaskValue unit_to_infinity = (a == 1.0) & (Abs(y) == kInfinity);
  const MaskValue one = (x == 1.0) | (y == 0.0) | unit_to_infinity;
  return Choose(one, 1.0, result);
}

// Two steps bring quotients up to 2^100 into reach; the last one may be one
// divisor off.
FloatValue Mod(FloatValue x, FloatValue y) {
  const auto reduce = [&](FloatValue r) { return MulAdd(-Trunc(r / y), y, r); };
  const FloatValue r = reduce(reduce(x));
  const FloatValue wrapped = Choose(Abs(r) < Abs(y), r, r - CopySign(y, r));
  const MaskValue opposite =
      ((wrapped < 0.0) & (y > 0.0)) | ((wrapped > 0.0) & (y < 0.0));
  const FloatValue signed_like_y = Choose(opposite, wrapped + y, wrapped);
  // x mod ±∞ is x, or ±∞ where the signs differ (Python).
  const MaskValue infinite = (Abs(y) == kInfinity) & (Abs(x) < kInfinity);
  const MaskValue differ = ((x < 0.0) & (y > 0.0)) | ((x > 0.0) & (y < 0.0));
  const FloatValue finite =
      Choose(infinite, Choose(differ, y, x), signed_like_y);
  return Choose(y == 0.0, 0.0, finite);
}

}  // namespace mxc::math_f64
