// SPDX-License-Identifier: Apache-2.0
#include "ir/program/strided_pairs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/support/division.h"

namespace mxc {
namespace {

// x with x · a mod m = 1, where a and m have no common divisor.
int64_t Inverse(int64_t a, int64_t m) {
  int64_t x = 0, next = 1, rest = m, divisor = a % m;
  while (divisor != 0) {
    const int64_t quotient = rest / divisor;
    x = std::exchange(next, x - quotient * next);
    rest = std::exchange(divisor, rest - quotient * divisor);
  }
  return (x % m + m) % m;
}

}  // namespace

// With g = gcd(p, q), P = p / g and Q = q / g, the a that fit are a0 + r · Q,
// and b falls by P from one to the next, from b0 on.
StridedPairs PairsThatMeet(const Expr& at, const Strided& first,
                           const Strided& second) {
  const int64_t p = first.step, q = second.step, g = std::gcd(p, q);
  const int64_t a_step = q / g, b_step = p / g;
  const Expr n = at / Expr(g);
  const Expr a0 = n * Expr(Inverse(b_step, a_step)) % Expr(a_step);
  const Expr b0 =
      b_step == 1 ? n / Expr(a_step) : (n - a0 * Expr(b_step)) / Expr(a_step);
  Expr end = Min((Expr(first.count + a_step - 1) - a0) / Expr(a_step),
                 b0 / Expr(b_step) + Expr(1));
  // Nothing meets where g does not divide `at`.
  if (g > 1) {
    end = Min(end, (Expr(g) - at % Expr(g)) / Expr(g) * Expr(first.count));
  }
  return {
      Max((b0 - Expr(second.count - b_step)) / Expr(b_step), 0), end,
      [=](const Expr& r) { return a0 + r * Expr(a_step); },
      [=](const Expr& r) { return b0 - r * Expr(b_step); },
      std::min(DivideUp(first.count, a_step), DivideUp(second.count, b_step))};
}

}  // namespace mxc
