// SPDX-License-Identifier: Apache-2.0
// Coefficients: exp and log are those of Cephes (expf.c, logf.c); erf is a
// least-squares fit of its own.
#include "codegen/llvm/math_f32.h"

namespace mxc::math_f32 {
namespace {

constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;

FloatValue PowerOfTwo(IntValue exponent, FloatValue like) {
  return FromBits(ShiftLeft(exponent + 127, 23), like);
}

// x = n · ln 2 + r with |r| ≤ ln 2 / 2 and an integer n.
struct Reduced {
  FloatValue n, r;
};

Reduced ReduceByLn2(FloatValue x) {
  const FloatValue n = RoundEven(x * 1.44269504088896341);
  return {n, MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x))};
}

// eʳ − 1.
FloatValue Expm1OfReduced(FloatValue r) {
  const FloatValue p =
      Polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                     4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return MulAdd(p, r * r, r);
}

}  // namespace

// 2ⁿ · eʳ, scaled twice, so that results underflow gradually.
FloatValue Exp(FloatValue x) {
  const Reduced by = ReduceByLn2(AtMost(AtLeast(x, -104), 89));
  const FloatValue y = Expm1OfReduced(by.r) + 1;
  const IntValue k = ToInt(by.n), half = ShiftRight(k, 1);
  const FloatValue scaled = y * PowerOfTwo(half, x) * PowerOfTwo(k - half, x);
  return Choose(IsNan(x), x, scaled);
}

// ln 2 · e + log m with √½ ≤ m < √2.
FloatValue Log(FloatValue x) {
  constexpr int64_t kLeastNormal = 0x00800000, kSqrtHalf = 0x3f3504f3;
  const MaskValue tiny = Bits(x) < Bits(x).Of(kLeastNormal);
  const FloatValue y = Choose(tiny, x * 8388608.0, x);
  const IntValue e = ShiftRight(Bits(y) - kSqrtHalf, 23);
  const FloatValue m = FromBits(Bits(y) - ShiftLeft(e, 23), x) - 1;
  const FloatValue exponent = ToFloat(e, x) + Choose(tiny, -23.0, x.Of(0));
  const FloatValue p =
      Polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                     -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                     2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  const FloatValue q = m * m;
  const FloatValue low = MulAdd(exponent, kLn2Low, m * q * p);
  const FloatValue sum = MulAdd(exponent, kLn2High, m + MulAdd(q, -0.5, low));
  const FloatValue finite = Choose(x == kInfinity, x, sum);
  const FloatValue at_zero = Choose(x == 0.0, -kInfinity, finite);
  return Choose((x < 0.0) | IsNan(x), kNan, at_zero);
}

// (e − 1) / (e + 1) with e = exp(2|x|), of which e − 1 is had without
// cancellation: (2ⁿ · (eʳ − 1)) + (2ⁿ − 1).
FloatValue Tanh(FloatValue x) {
  const FloatValue a = AtMost(Abs(x), 10);
  const Reduced by = ReduceByLn2(a + a);
  const FloatValue scale = PowerOfTwo(ToInt(by.n), x);
  const FloatValue e = MulAdd(scale, Expm1OfReduced(by.r), scale - 1);
  return Choose(IsNan(x), x, CopySign(e / (e + 2), x));
}

// x · A(x²) below 1, 1 − exp(B(x)) above.
FloatValue Erf(FloatValue x) {
  const FloatValue a = Abs(x);
  const FloatValue near =
      x *
      Polynomial(x * x, {-9.641662574e-06, 1.125700403e-04, -8.482837447e-04,
                         5.220946105e-03, -2.686540032e-02, 1.128378198e-01,
                         -3.761263844e-01, 1.128379167e+00});
  const FloatValue b = Polynomial(
      AtMost(a, 4), {2.120480163e-07, -2.475368981e-05, 4.603544376e-04,
                     -4.270624406e-03, 2.534889990e-02, -1.086065648e-01,
                     -6.330657634e-01, -1.129649333e+00, 2.020628904e-04});
  const FloatValue far = CopySign(1 - Exp(b), x);
  return Choose(IsNan(x), x, Choose(a < 1.0, near, far));
}

}  // namespace mxc::math_f32
