// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/affine.h"

#include <doctest/doctest.h>

#include <map>

#include "codegen/schedule/address_form.h"
#include "ir/program/layout.h"

namespace mxc::test {
namespace {

// Variables 0, 1, … with the given ranges.
IntervalOf Ranges(std::vector<Interval> ranges) {
  return [ranges](int var) -> std::optional<Interval> {
    if (var >= static_cast<int>(ranges.size())) return std::nullopt;
    return ranges[static_cast<size_t>(var)];
  };
}

int64_t Evaluate(const Expr& e, const std::vector<int64_t>& at) {
  const auto floor_div = [](int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q * b > a ? q - 1 : q;
  };
  if (e->kind == ExprKind::kConst) return static_cast<int64_t>(e->number);
  if (e->kind == ExprKind::kVar) return at[static_cast<size_t>(e->index)];
  const int64_t a = Evaluate(e->args[0], at);
  if (e->kind == ExprKind::kUnary) return -a;
  const int64_t b = Evaluate(e->args[1], at);
  switch (e->binary) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return floor_div(a, b);
    case BinaryOp::kMod:
      return a - floor_div(a, b) * b;
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kLessEqual:
      return a <= b;
    case BinaryOp::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

}  // namespace

TEST_CASE("quotients and remainders disappear where the ranges allow") {
  const IntervalOf range = Ranges({{0, 9}, {0, 7}});
  const Expr b = Var(0), l = Var(1), c = b * Expr(8) + l;
  CHECK(Print(ToExpr(ToAffine(c / Expr(8), range))) == Print(b));
  CHECK(Print(ToExpr(ToAffine(c % Expr(8), range))) == Print(l));
  // What lies below a common factor takes no part.
  CHECK(Print(ToExpr(ToAffine(c / Expr(16), range))) == Print(b / Expr(2)));
  CHECK(Print(ToExpr(ToAffine(c % Expr(16), range))) ==
        Print(l + b % Expr(2) * Expr(8)));
  // A flat index taken apart and put together again.
  const IntervalOf flat = Ranges({{0, 11 * 12 - 1}});
  const Expr f = Var(0);
  const Expr again =
      f / Expr(12) * Expr(12) + f / Expr(4) % Expr(3) * Expr(4) + f % Expr(4);
  CHECK(Print(ToExpr(ToAffine(again, flat))) == Print(f));
}

TEST_CASE("the affine form has the value of the expression") {
  uint64_t state = 7;
  const auto next = [&](int64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(bound));
  };
  const std::vector<Interval> intervals = {{0, 5}, {-3, 4}, {0, 11}};
  const IntervalOf range = Ranges(intervals);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Expr> pool = {Var(0), Var(1), Var(2)};
    for (int k = 0; k < 7; ++k) {
      const Expr a =
          pool[static_cast<size_t>(next(static_cast<int64_t>(pool.size())))];
      const Expr b =
          pool[static_cast<size_t>(next(static_cast<int64_t>(pool.size())))];
      switch (next(6)) {
        case 0:
          pool.push_back(a + b);
          break;
        case 1:
          pool.push_back(a - b);
          break;
        case 2:
          pool.push_back(a * Expr(next(9) - 4));
          break;
        case 3:
          pool.push_back(a / Expr(1 + next(12)));
          break;
        case 4:
          pool.push_back(a % Expr(1 + next(12)));
          break;
        default:
          pool.push_back(next(2) ? Max(a, b) : Min(a, b));
          break;
      }
    }
    const Expr e = pool.back(), form = ToExpr(ToAffine(e, range));
    const Expr compare = SimplifyComparison(BinaryOp::kLess, e, pool[4], range);
    const auto bounds = Bounds(e, range);
    for (int sample = 0; sample < 8; ++sample) {
      std::vector<int64_t> at;
      for (const Interval& i : intervals) {
        at.push_back(i.low + next(i.high - i.low + 1));
      }
      const int64_t value = Evaluate(e, at);
      REQUIRE(Evaluate(form, at) == value);
      REQUIRE((Evaluate(compare, at) != 0) == (value < Evaluate(pool[4], at)));
      if (bounds) {
        REQUIRE(value >= bounds->low);
        REQUIRE(value <= bounds->high);
      }
    }
  }
}

TEST_CASE("offsets agree with Layout::Offset") {
  const Shape shape{2, 20, 3, 5};
  const Layout layout =
      Layout::Blocked(shape, 1, 8).WithHalo({0, 0, 1, 2}, {0, 0, 1, 0});
  const IntervalOf range = Ranges({{0, 1}, {0, 19}, {0, 2}, {0, 4}});
  const Expr offset =
      ToExpr(OffsetOf(layout, {Var(0), Var(1), Var(2), Var(3)}, range));
  const Layout window =
      *layout.Window(shape, {0, 8, 0, 0}, Extents{2, 12, 2, 5});
  const Expr within =
      ToExpr(OffsetOf(window, {Var(0), Var(1), Var(2), Var(3)}, range));
  for (int64_t c = 0; c < 20; ++c) {
    CHECK(Evaluate(offset, {1, c, 2, 3}) == layout.Offset({1, c, 2, 3}));
    if (c >= 12) continue;
    CHECK(Evaluate(within, {1, c, 1, 3}) == window.Offset({1, c, 1, 3}));
    CHECK(window.Offset({1, c, 1, 3}) - window.Offset({0, 0, 0, 0}) ==
          layout.Offset({1, c + 8, 1, 3}) - layout.Offset({0, 8, 0, 0}));
  }
}

TEST_CASE("structure ignores the names of reduction variables") {
  const auto sum = [] {
    const int r = FreshReductionVar();
    return Reduce(ReduceOp::kSum, {{r, 0, 10}},
                  Load(0, DType::kF32, {Var(0), Var(r)}));
  };
  CHECK(StructureOf(sum() * sum()) == StructureOf(sum() * sum()));
  CHECK(StructureOf(sum()) != StructureOf(sum() + sum()));
}

}  // namespace mxc::test
