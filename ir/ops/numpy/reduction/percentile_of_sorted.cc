// SPDX-License-Identifier: Apache-2.0
// _percentile_of_sorted: percentiles of sorted rows; our own operator.
//   sorted  [R, n]
//   q       f32[Q]; clipped to 0 … 100
//   output  f[Q, R]
#include "ir/ops/numpy/reduction/percentile_of_sorted.h"
#include "ir/ops/numpy/reduction/np_percentile.h"

namespace mxc {
namespace {

void PercentileOfSortedTypes(const PercentileOfSortedAttrs&, TypeInference& t) {
  t.SetInDType(1, DType::kF32);
  t.SetOutDType(0, PercentileType(t.InDType(0)));
  if (t.In(0).known() && t.In(1).known()) {
    t.SetOut(0, Shape{t.In(1)[0], t.In(0)[0]});
  }
}

void PercentileOfSortedMeaning(const PercentileOfSortedAttrs& a,
                               Definition& def) {
  const int64_t last = def.InShape(0)[1] - 1;
  const Expr q = def.In(1, {Var(0)});
  const Expr percents = Max(Min(q, Lit(100, q)), Lit(0, q));
  const Expr at = percents * Lit(static_cast<double>(last), q) / Lit(100, q);
  const auto element = [&](const Expr& place) {
    const Expr whole = Cast(place, DType::kI64);
    return Cast(def.In(0, {Var(1), Max(Min(whole, Expr(last)), Expr(0))}),
                def.OutDType());
  };
  const Expr floor = Unary(UnaryOp::kFloor, at);
  const Expr ceil = Unary(UnaryOp::kCeil, at);
  const auto between = [&](const Expr& place) {
    const Expr part = Cast(place - floor, def.OutDType());
    const Expr below = element(floor), above = element(ceil);
    return Select(part == Lit(0, part), below,
                  below * (Lit(1, part) - part) + above * part);
  };
  switch (a.interpolation) {
    case PercentileAt::kLinear:
      return def.Set(0, between(at));
    case PercentileAt::kLower:
      return def.Set(0, element(floor));
    case PercentileAt::kHigher:
      return def.Set(0, element(ceil));
    case PercentileAt::kMidpoint:
      return def.Set(0, between((floor + ceil) / Lit(2, at)));
    case PercentileAt::kNearest:
      return def.Set(0, element(Unary(UnaryOp::kRound, at)));
  }
}

}  // namespace

MXC_OP(PercentileOfSorted) {
  return Op<PercentileOfSortedAttrs>("_percentile_of_sorted")
      .Doc("percentiles of sorted rows")
      .Inputs({{"sorted"}, {"q"}})
      .Types(PercentileOfSortedTypes)
      .Meaning(PercentileOfSortedMeaning)
      .Internal();
}

}  // namespace mxc
