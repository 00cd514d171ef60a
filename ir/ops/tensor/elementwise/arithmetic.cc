// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/arithmetic.h"

#include <limits>

#include "ir/program/integers.h"

namespace mxc {
namespace {

// Halves are computed in f32 and rounded once.
template <class F>
Expr Widened(const Expr& a, const Expr& b, F f) {
  const DType wide = AccumulateType(a->dtype);
  if (wide == a->dtype) return f(a, b);
  return Cast(f(Cast(a, wide), Cast(b, wide)), a->dtype);
}

// Whatever has no integer form is computed in floating point, and truncated.
template <class F>
Expr ThroughFloat(const Expr& a, const Expr& b, DType wide, F f) {
  if (IsFloat(a->dtype)) return Widened(a, b, f);
  return Cast(f(Cast(a, wide), Cast(b, wide)), a->dtype);
}

// What is squared is first brought near 1 by a power of two, which rounds nothing:
// squares of numbers far off would be infinite or 0.
Expr ScaledHypotenuse(const Expr& x, const Expr& y) {
  const auto number = [&](double value) { return Constant(value, x->dtype); };
  const bool wide = x->dtype == DType::kF64;
  const double far = wide ? 0x1p500 : 0x1p60, scale = wide ? 0x1p600 : 0x1p100;
  const Expr largest = Max(Abs(x), Abs(y));
  const auto of_scale = [&](double down, double up) {
    return Select(largest > number(far), number(down),
                  Select(largest < number(1 / far), number(up), number(1)));
  };
  const Expr to_one = of_scale(1 / scale, scale);
  const Expr a = x * to_one, b = y * to_one;
  const Expr infinity = number(std::numeric_limits<double>::infinity());
  return Select(Abs(x) == infinity || Abs(y) == infinity, infinity,
                Sqrt(a * a + b * b) * of_scale(scale, 1 / scale));
}

template <class F>
Expr Truth(const Expr& a, const Expr& b, F condition) {
  return Cast(condition(a, b), a->dtype);
}

}  // namespace

void ChoiceTypes(TypeInference& t) {
  for (const int i : {1, 2}) {
    t.SetOutDType(0, t.InDType(i));
    t.SetOut(0, t.In(i));
  }
  for (const int i : {1, 2}) {
    t.SetInDType(i, t.OutDType(0));
    t.SetIn(i, t.Out(0));
  }
}

Expr IsTrue(const Expr& x) { return x != Constant(0, x->dtype); }

Expr Number(double value, DType dtype) {
  if (AccumulateType(dtype) != dtype) {
    return Constant(Rounded(value, dtype), dtype);
  }
  if (dtype == DType::kBool) return Constant(value != 0, dtype);
  return Constant(IsFloat(dtype) ? value : Truncated(value, dtype), dtype);
}

namespace arithmetic {

Expr Add(Expr a, Expr b) {
  return Widened(a, b, [](Expr x, Expr y) { return x + y; });
}
Expr Subtract(Expr a, Expr b) {
  return Widened(a, b, [](Expr x, Expr y) { return x - y; });
}
Expr Multiply(Expr a, Expr b) {
  return Widened(a, b, [](Expr x, Expr y) { return x * y; });
}
Expr Divide(Expr a, Expr b) {
  return ThroughFloat(a, b, DType::kF64, [](Expr x, Expr y) { return x / y; });
}
Expr Modulo(Expr a, Expr b) {
  if (IsFloat(a->dtype)) {
    return Widened(a, b, [](Expr x, Expr y) { return x % y; });
  }
  return Select(IsTrue(b), a % b, Constant(0, a->dtype));
}
Expr Power(Expr a, Expr b) {
  // The power of integers is rounded: f64 may be just below.
  if (!IsFloat(a->dtype)) return Pow(a, b);
  return Widened(a, b, [](Expr x, Expr y) { return Pow(x, y); });
}
Expr Maximum(Expr a, Expr b) { return Max(a, b); }
Expr Minimum(Expr a, Expr b) { return Min(a, b); }
Expr Hypotenuse(Expr a, Expr b) {
  return ThroughFloat(a, b, DType::kF64, ScaledHypotenuse);
}

Expr IsEqual(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return x == y; });
}
Expr IsNotEqual(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return x != y; });
}
Expr IsGreater(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return x > y; });
}
Expr IsGreaterEqual(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return x >= y; });
}
Expr IsLesser(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return x < y; });
}
Expr IsLesserEqual(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return x <= y; });
}
Expr LogicalAnd(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return IsTrue(x) && IsTrue(y); });
}
Expr LogicalOr(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return IsTrue(x) || IsTrue(y); });
}
Expr LogicalXor(Expr a, Expr b) {
  return Truth(a, b, [](Expr x, Expr y) { return IsTrue(x) != IsTrue(y); });
}

}  // namespace arithmetic
}  // namespace mxc
