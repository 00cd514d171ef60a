// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/elementwise/np_arithmetic.h"

#include <limits>
#include <numbers>

#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc::np {
namespace {

// Halves are computed in f32 and rounded once, integers in f64.
Expr InWide(const Expr& a, const Expr& b, BinaryFunction f) {
  const DType wide = IsFloat(a->dtype) ? AccumulateType(a->dtype) : DType::kF64;
  return Cast(f(Cast(a, wide), Cast(b, wide)), a->dtype);
}

Expr WideArctan2(Expr y, Expr x) {
  const Expr zero = Lit(0, x), pi = Lit(std::numbers::pi, x);
  const Expr half = Lit(std::numbers::pi / 2, x);
  // The quotient is at most 1: both near 0 and near infinity.
  const Expr flat = Abs(y) <= Abs(x);
  const Expr infinity = Lit(std::numeric_limits<double>::infinity(), x);
  const Expr diagonal = Select(IsNegative(x), -Lit(1, x), Lit(1, x));
  const Expr ratio = Select(Abs(x) == infinity && Abs(y) == infinity,
                            Select(IsNegative(y), -diagonal, diagonal),
                            Select(flat, y / x, x / y));
  const Expr angle = Unary(UnaryOp::kAtan, ratio);
  const Expr turn = Select(IsNegative(y), -pi, pi);
  const Expr beside = Select(IsNegative(x), angle + turn, angle);
  const Expr above = Select(y < zero, -half, half) - angle;
  const Expr origin = Select(IsNegative(x), turn, y);
  return Select(x == zero && y == zero, origin, Select(flat, beside, above));
}

Expr WideLdexp(Expr a, Expr b) { return a * Pow(Lit(2, b), b); }

// Pow may be beside a power of two by a rounding, which integers would show.
Expr WholeLdexp(Expr a, Expr b) {
  const Expr power = Unary(UnaryOp::kRound, Pow(Lit(2, b), Abs(b)));
  return Select(b < Lit(0, b), a / power, a * power);
}

}  // namespace

Expr IsNan(const Expr& x) {
  if (!IsFloat(x->dtype)) return Constant(0, DType::kBool);
  return Unary(UnaryOp::kIsNan, x);
}

Expr IsInfinite(const Expr& x, bool positive, bool negative) {
  if (!IsFloat(x->dtype)) return Constant(0, DType::kBool);
  const double infinity = std::numeric_limits<double>::infinity();
  Expr found = Constant(0, DType::kBool);
  if (positive) found = x == Lit(infinity, x);
  if (negative) found = found || x == Lit(-infinity, x);
  return found;
}

Expr IsNegative(const Expr& x) {
  const Expr zero = Lit(0, x);
  if (!IsFloat(x->dtype)) return x < zero;
  return x < zero || (x == zero && Lit(1, x) / x < zero);
}

Expr Arctan2(Expr y, Expr x) { return InWide(y, x, WideArctan2); }

Expr CopySign(Expr a, Expr b) {
  const Expr magnitude = Abs(a);
  return Select(IsNegative(b), -magnitude, magnitude);
}

Expr Ldexp(Expr a, Expr b) {
  return InWide(a, b, IsFloat(a->dtype) ? WideLdexp : WholeLdexp);
}

Expr BitwiseAnd(Expr a, Expr b) { return Binary(BinaryOp::kBitAnd, a, b); }

Expr BitwiseXor(Expr a, Expr b) { return Binary(BinaryOp::kBitXor, a, b); }

Expr BitwiseOr(Expr a, Expr b) {
  return BitwiseXor(BitwiseXor(a, b), BitwiseAnd(a, b));
}

}  // namespace mxc::np
