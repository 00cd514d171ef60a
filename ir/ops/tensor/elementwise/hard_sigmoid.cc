// SPDX-License-Identifier: Apache-2.0
// hard_sigmoid: alpha · x + beta within 0 and 1.
#include "ir/ops/tensor/elementwise/hard_sigmoid.h"

#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

Expr HardSigmoid(const HardSigmoidAttrs& attrs, Expr x) {
  const Expr line = Lit(attrs.alpha, x) * x + Lit(attrs.beta, x);
  return Max(Lit(0, x), Min(Lit(1, x), line));
}

}  // namespace

MXC_OP(HardSigmoid) {
  return UnaryOperatorOf<HardSigmoidAttrs>(
      "hard_sigmoid", "a line limited to 0 and 1", HardSigmoid);
}

}  // namespace mxc
