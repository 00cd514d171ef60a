// SPDX-License-Identifier: Apache-2.0
// smooth_l1: ½ (σx)² for |x| < 1/σ², else |x| - ½/σ²; σ is `scalar`.
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

struct SmoothL1Attrs {
  double scalar = 1;

  void Describe(Fields& f) { f("scalar", scalar).Doc("sigma"); }
};

Expr SmoothL1(const SmoothL1Attrs& attrs, Expr x) {
  const double square = attrs.scalar * attrs.scalar;
  const Expr inside = Lit(0.5 * square, x) * x * x;
  const Expr outside = Abs(x) - Lit(0.5 / square, x);
  return Select(Abs(x) < Lit(1 / square, x), inside, outside);
}

}  // namespace

MXC_OP(SmoothL1) {
  return UnaryOperatorOf<SmoothL1Attrs>(
             "smooth_l1", "a parabola near 0, a line elsewhere", SmoothL1)
      .Alias({"_npx_smooth_l1"});
}

}  // namespace mxc
