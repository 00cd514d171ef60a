// SPDX-License-Identifier: Apache-2.0
// f64: the error function, its inverse, gamma. Coefficients: erf of Cephes
// (ndtr.c), erfinv's start of M. Giles (Approximating the erfinv function),
// gamma by Lanczos with g = 7, n = 9.
#include "codegen/llvm/math_f64.h"

namespace mxc::math_f64 {
namespace {

constexpr double kPi = 3.14159265358979323846;

// 1 − erf(a) for 1 ≤ a ≤ 8.
FloatValue ErfcTail(FloatValue a) {
  const FloatValue p =
      Polynomial(a, {2.46196981473530512524e-10, 5.64189564831068821977e-1,
                     7.46321056442269912687e0, 4.86371970985681366614e1,
                     1.96520832956077098242e2, 5.26445194995477358631e2,
                     9.34528527171957607540e2, 1.02755188689515710272e3,
                     5.57535335369399327526e2});
  const FloatValue q =
      Polynomial(a, {1.0, 1.32281951154744992508e1, 8.67072140885989742329e1,
                     3.54937778887819891062e2, 9.75708501743205489753e2,
                     1.82390916687909736289e3, 2.24633760818710981792e3,
                     1.65666309194161350182e3, 5.57535340817727675546e2});
  return Exp(-(a * a)) * p / q;
}

FloatValue ErfNear(FloatValue x) {
  const FloatValue z = x * x;
  const FloatValue t =
      Polynomial(z, {9.60497373987051638749e0, 9.00260197203842689217e1,
                     2.23200534594684319226e3, 7.00332514112805075473e3,
                     5.55923013010394962768e4});
  const FloatValue u =
      Polynomial(z, {1.0, 3.35617141647503099647e1, 5.21357949780152679795e2,
                     4.59432382970980127987e3, 2.26290000613890934246e4,
                     4.92673942608635921086e4});
  return x * t / u;
}

// Γ(z + 1) / (√(2π) t^(z + ½) e⁻ᵗ), t = z + 7.5, for z ≥ −½.
FloatValue LanczosSum(FloatValue z) {
  constexpr double kCoefficients[] = {
      676.5203681218851,     -1259.1392167224028,  771.32342877765313,
      -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
      9.9843695780195716e-6, 1.5056327351493116e-7};
  FloatValue sum = z.Of(0.99999999999980993);
  double k = 1;
  for (const double c : kCoefficients) sum = sum + c / (z + k++);
  return sum;
}

FloatValue LogGammaOfPositive(FloatValue x) {
  const FloatValue z = x - 1, t = z + 7.5;
  return 0.91893853320467274178 + (z + 0.5) * Log(t) - t + Log(LanczosSum(z));
}

// sin(πx), exact zeros at integers.
FloatValue SinPi(FloatValue x) {
  const FloatValue r = x - 2 * RoundEven(x * 0.5);  // −1 ≤ r ≤ 1
  const FloatValue a = Abs(r);
  const FloatValue folded = Choose(a > 0.5, 1 - a, a);
  return CopySign(Sin(folded * kPi), r);
}

// By the recurrence at x + 8, where the asymptotic series holds (Abramowitz and
// Stegun, 6.3.5 and 6.3.18); for x ≥ ½.
FloatValue DigammaOfPositive(FloatValue x) {
  FloatValue lift = 1 / x;
  for (double k = 1; k < 8; ++k) lift = lift + 1 / (x + k);
  const FloatValue z = x + 8, w = 1 / (z * z);
  const FloatValue series =
      w * Polynomial(w, {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                         1.0 / 252, -1.0 / 120, 1.0 / 12});
  return Log(z) - 0.5 / z - series - lift;
}

MaskValue IsPole(FloatValue x) { return (Floor(x) == x) & (x < 0.5); }

}  // namespace

FloatValue Erf(FloatValue x) {
  const FloatValue a = Abs(x);
  const FloatValue bounded = AtMost(AtLeast(a, 1), 8);
  const FloatValue far = CopySign(1 - ErfcTail(bounded), x);
  const FloatValue y = Choose(a < 1.0, ErfNear(x), far);
  return Choose(IsNan(x), x, y);
}

FloatValue Erfinv(FloatValue x) {
  const FloatValue a = Abs(x);
  const FloatValue w = -Log((1 - a) * (1 + a));
  const FloatValue central =
      Polynomial(w - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06,
                           -4.39150654e-06, 0.00021858087, -0.00125372503,
                           -0.00417768164, 0.246640727, 1.50140941});
  const FloatValue tail = Polynomial(
      Sqrt(AtLeast(w, 5)) - 3,
      {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
       0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  FloatValue y = a * Choose(w < 5.0, central, tail);
  // Newton on erf(y) − a; beyond 1 on erfc, which keeps its digits there.
  for (int step = 0; step < 3; ++step) {
    const FloatValue bounded = AtMost(AtLeast(y, 1), 8);
    const FloatValue error =
        Choose(y < 1.0, ErfNear(y) - a, (1 - a) - ErfcTail(bounded));
    y = y - error * 0.88622692545275801365 * Exp(y * y);
  }
  const FloatValue inside = Choose(a == 1.0, kInfinity, y);
  const FloatValue signed_value = CopySign(inside, x);
  return Choose((a > 1.0) | IsNan(x), kNan, signed_value);
}

FloatValue Gamma(FloatValue x) {
  const MaskValue reflect = x < 0.5;
  const FloatValue z = Choose(reflect, 1 - x, x) - 1, t = z + 7.5;
  // t^(z + ½) in two factors, which overflow only where the result does.
  const FloatValue root = Exp((0.5 * z + 0.25) * Log(t) - 0.5 * t);
  const FloatValue direct =
      root * (2.50662827463100050242 * LanczosSum(z)) * root;
  const FloatValue y = Choose(reflect, kPi / (SinPi(x) * direct), direct);
  const FloatValue at_zero = Choose(x == 0.0, 1 / x, y);
  const FloatValue at_pole = Choose(IsPole(x) & (x < 0.0), kNan, at_zero);
  const FloatValue large = Choose(x > 172.0, kInfinity, at_pole);
  return Choose(IsNan(x), x, large);
}

FloatValue LogGamma(FloatValue x) {
  const MaskValue reflect = x < 0.5;
  const FloatValue direct = LogGammaOfPositive(Choose(reflect, 1 - x, x));
  const FloatValue reflected = Log(kPi / Abs(SinPi(x))) - direct;
  const FloatValue y = Choose(reflect, reflected, direct);
  const FloatValue exact = Choose((x == 1.0) | (x == 2.0), 0.0, y);
  const MaskValue infinite = IsPole(x) | (Abs(x) == kInfinity);
  return Choose(IsNan(x), x, Choose(infinite, kInfinity, exact));
}

FloatValue Digamma(FloatValue x) {
  const MaskValue reflect = x < 0.5;
  const FloatValue direct = DigammaOfPositive(Choose(reflect, 1 - x, x));
  const FloatValue sine = SinPi(x), cosine = SinPi(x + 0.5);
  const FloatValue reflected = direct - kPi * cosine / sine;
  const FloatValue y = Choose(reflect, reflected, direct);
  const FloatValue infinite =
      Choose((x == kInfinity) | IsPole(x), kInfinity, y);
  return Choose(IsNan(x), kNan, infinite);
}

}  // namespace mxc::math_f64
