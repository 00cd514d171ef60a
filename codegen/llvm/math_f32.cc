// SPDX-License-Identifier: Apache-2.0
// Coefficients: exp and log are those of Cephes (expf.c, logf.c); erf is a
// minimax fit of its own.
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

// 1 − exp(t) with t = ln(1 − erf(a)) = −a · (c + a · C(a)), of which 1 − exp is
// had as in Tanh. The rest of c that f32 cannot hold goes with C: near zero, t
// is all that the result's error comes from. Above, exp makes little of the
// error of n · ln 2.
FloatValue Erf(FloatValue x) {
  constexpr double kC = -1.12837922573, kRest = 5.4120e-8;
  const FloatValue a = AtMost(Abs(x), 4);
  const FloatValue c =
      Polynomial(a, {9.256451905e-06, -1.176428498e-04, 6.328421522e-04,
                     -1.667036503e-03, 1.604004219e-04, 1.915305981e-02,
                     -1.027778295e-01, -6.366193821e-01, kRest});
  const FloatValue t = MulAdd(a, kC, a * c);
  const FloatValue n = RoundEven(t * 1.44269504088896341);
  const FloatValue r = MulAdd(n, -0.69314718055994531, t);
  const FloatValue scale = PowerOfTwo(ToInt(n), x);
  const FloatValue y = MulAdd(scale, Expm1OfReduced(r), scale - 1);
  return Choose(IsNan(x), x, CopySign(y, x));
}

}  // namespace mxc::math_f32
