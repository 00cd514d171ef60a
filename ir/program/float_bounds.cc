// SPDX-License-Identifier: Apache-2.0
#include "ir/program/float_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/program/integers.h"

namespace mxc {
namespace {

constexpr double kNoFloatBound = std::numeric_limits<double>::infinity();
// So far down an expression is looked at, whose subtrees may be shared.
constexpr int kFloatBoundsDepth = 8;
constexpr FloatBounds kAnyFloat = {-kNoFloatBound, kNoFloatBound, true};

FloatBounds Bounds(const Expr& e, int depth);

FloatBounds OfExtremum(const Expr& e, int depth) {
  const FloatBounds a = Bounds(e->args[0], depth),
                    b = Bounds(e->args[1], depth);
  const auto of = [&](double x, double y) {
    return e->binary == BinaryOp::kMax ? std::max(x, y) : std::min(x, y);
  };
  return {of(a.low, b.low), of(a.high, b.high), a.may_be_nan || b.may_be_nan};
}

// Rounding keeps the order of sums. Of unknown numbers one may be NaN.
FloatBounds OfSum(const Expr& e, int depth) {
  const FloatBounds a = Bounds(e->args[0], depth),
                    b = Bounds(e->args[1], depth);
  const double low = a.low + b.low, high = a.high + b.high;
  const auto is_float = [](double x) {
    return std::abs(x) <= std::numeric_limits<float>::max();
  };
  if (e->dtype != DType::kF32 || !is_float(low) || !is_float(high)) {
    return kAnyFloat;
  }
  return {static_cast<double>(static_cast<float>(low)),
          static_cast<double>(static_cast<float>(high)),
          a.may_be_nan || b.may_be_nan};
}

// Narrowed by `condition`, which holds of it and is false of NaN.
FloatBounds Where(const Expr& condition, const Expr& e, int depth) {
  FloatBounds bounds = Bounds(e, depth);
  const bool is_less = condition->kind == ExprKind::kBinary &&
                       (condition->binary == BinaryOp::kLess ||
                        condition->binary == BinaryOp::kLessEqual);
  if (!is_less) return bounds;
  const Expr &less = condition->args[0], &more = condition->args[1];
  if (Equal(less, e)) {
    bounds.high = std::min(bounds.high, Bounds(more, depth).high);
    bounds.may_be_nan = false;
  }
  if (Equal(more, e)) {
    bounds.low = std::max(bounds.low, Bounds(less, depth).low);
    bounds.may_be_nan = false;
  }
  return bounds;
}

FloatBounds OfSelect(const Expr& e, int depth) {
  const FloatBounds then = Where(e->args[0], e->args[1], depth);
  const FloatBounds otherwise = Bounds(e->args[2], depth);
  return {std::min(then.low, otherwise.low),
          std::max(then.high, otherwise.high),
          then.may_be_nan || otherwise.may_be_nan};
}

bool IsRounding(UnaryOp op) {
  return op == UnaryOp::kFloor || op == UnaryOp::kCeil ||
         op == UnaryOp::kTrunc || op == UnaryOp::kRound ||
         op == UnaryOp::kRoundEven;
}

FloatBounds Bounds(const Expr& e, int depth) {
  if (--depth < 0) return kAnyFloat;
  switch (e->kind) {
    case ExprKind::kConst: {
      const auto value = static_cast<double>(e->number);
      if (std::isnan(value)) return kAnyFloat;
      return {value, value, false};
    }
    case ExprKind::kUnary: {
      if (!IsRounding(e->unary)) return kAnyFloat;
      const FloatBounds x = Bounds(e->args[0], depth);
      return {std::floor(x.low), std::ceil(x.high), x.may_be_nan};
    }
    case ExprKind::kBinary:
      if (e->binary == BinaryOp::kAdd) return OfSum(e, depth);
      if (e->binary != BinaryOp::kMax && e->binary != BinaryOp::kMin) {
        return kAnyFloat;
      }
      return OfExtremum(e, depth);
    case ExprKind::kSelect:
      return OfSelect(e, depth);
    case ExprKind::kCast: {
      const DType from = e->args[0]->dtype;
      if (from == DType::kF32 || from == DType::kF64) {
        // To a narrower float it may round up.
        return SizeOf(e->dtype) >= SizeOf(from) ? Bounds(e->args[0], depth)
                                                : kAnyFloat;
      }
      if (IsFloat(from) || SizeOf(from) > 2) return kAnyFloat;
      return {static_cast<double>(LeastInteger(from)),
              static_cast<double>(LargestInteger(from)), false};
    }
    default:
      return kAnyFloat;
  }
}

}  // namespace

FloatBounds BoundsOfFloat(const Expr& e) {
  return Bounds(e, kFloatBoundsDepth);
}

bool FitsInteger(const Expr& e, DType dtype) {
  const FloatBounds bounds = BoundsOfFloat(e);
  return !bounds.may_be_nan &&
         std::trunc(bounds.low) >= static_cast<double>(LeastInteger(dtype)) &&
         std::trunc(bounds.high) <= static_cast<double>(LargestInteger(dtype));
}

}  // namespace mxc
