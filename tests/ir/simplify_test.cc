// SPDX-License-Identifier: Apache-2.0
// Simplify keeps the value of every index expression, and reaches the forms
// that address analysis relies on.
#include <doctest/doctest.h>

#include <random>

#include "ir/program/evaluator.h"
#include "ir/program/expr.h"

namespace mxc {
namespace {

std::optional<Interval> Range8(int) { return Interval{0, 7}; }

double ValueAt(const Expr& e, double i0, double i1) {
  return Evaluator({}).Evaluate(e, 1, {{i0}, {i1}})[0];
}

Expr RandomExpr(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % n); };
  if (depth == 0) return pick(3) == 0 ? Expr(pick(17) - 8) : Var(pick(2));
  const Expr a = RandomExpr(random, depth - 1),
             b = RandomExpr(random, depth - 1);
  switch (pick(8)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * Expr(pick(9) - 4);
    case 3:
      return a / Expr(1 + pick(9));
    case 4:
      return a % Expr(1 + pick(9));
    case 5:
      return Max(a, b);
    case 6:
      return Select(a < b, a, b);
    default:
      return Select(a == b, a + Expr(1), b);
  }
}

TEST_CASE("simplified index expressions keep their values") {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    const Expr e = RandomExpr(random, 4);
    const Expr simple = Simplify(e, Range8);
    for (int i0 = 0; i0 < 8; i0 += 1 + round % 3) {
      for (int i1 = 0; i1 < 8; i1 += 1 + round % 4) {
        INFO(Print(e), " => ", Print(simple), " at ", i0, ", ", i1);
        REQUIRE(ValueAt(e, i0, i1) == ValueAt(simple, i0, i1));
      }
    }
  }
}

TEST_CASE("a block's index is taken apart again") {
  const Expr c = Var(0) * Expr(8) + Var(1);
  CHECK(Print(Simplify(c / Expr(8), Range8)) == "i0");
  CHECK(Print(Simplify(c % Expr(8), Range8)) == "i1");
  CHECK(Print(Simplify((c + Expr(16)) / Expr(8), Range8)) == "i0 + 2");
  CHECK(Print(Simplify(Select(Var(1) < Expr(8), c, Expr(0)), Range8)) ==
        "(i0 * 8) + i1");
  CHECK(Print(Simplify(((Var(0) * Expr(3) + Var(1)) - Var(1)) / Expr(3),
                       Range8)) == "i0");
}

TEST_CASE("a quotient and its rest are put together again") {
  const Expr x = Var(0) + Var(1);
  const Expr q = Var(0) / Expr(3), r = Var(0) % Expr(3);
  CHECK(Print(Simplify(q * Expr(3) + r, Range8)) == "i0");
  CHECK(Print(Simplify(r * Expr(2) + Var(1) + q * Expr(6), Range8)) ==
        "i1 + (i0 * 2)");
  CHECK(Print(Simplify(x / Expr(5) * Expr(5) + x % Expr(5), Range8)) ==
        "i0 + i1");
  CHECK(Print(Simplify(q * Expr(4) + r, Range8)) ==
        "((i0 / 3) * 4) + (i0 % 3)");
  CHECK(Print(Simplify(Var(1) / Expr(3) * Expr(3) + r, Range8)) ==
        "((i1 / 3) * 3) + (i0 % 3)");
}

}  // namespace
}  // namespace mxc
