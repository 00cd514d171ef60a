// SPDX-License-Identifier: Apache-2.0
// clip: x within a_min ≤ x ≤ a_max; NaN stays NaN. Where a_min exceeds a_max,
// what exceeds a_max is a_max, and all else a_min.
// Source: MXNet 1.9.1 operator/tensor/matrix_op-inl.h, clip.
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

Expr Clip(const ClipAttrs& attrs, Expr x) {
  const Expr low = Number(attrs.a_min, x->dtype);
  const Expr high = Number(attrs.a_max, x->dtype);
  if (attrs.a_min <= attrs.a_max) return Min(Max(x, low), high);
  return Select(x > high, high, Select(x < low, low, x));
}

}  // namespace

MXC_OP(Clip) {
  return UnaryOperatorOf<ClipAttrs>("clip", "x limited to a range", Clip)
      .Alias({"_npi_clip"});
}

}  // namespace mxc
