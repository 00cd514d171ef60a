// SPDX-License-Identifier: Apache-2.0
// _npi_around: numpy.around, to `decimals` places, halves to the even digit.
#include "ir/ops/numpy/elementwise/npi_around.h"

#include <cmath>

#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

Expr Around(const AroundAttrs& attrs, Expr x) {
  if (attrs.decimals == 0) return Unary(UnaryOp::kRoundEven, x);
  const Expr scale = Lit(std::pow(10, static_cast<double>(attrs.decimals)), x);
  return Unary(UnaryOp::kRoundEven, x * scale) / scale;
}

}  // namespace

MXC_OP(NpiAround) {
  return UnaryOperatorOf<AroundAttrs>("_npi_around", "numpy.around", Around)
      .Inputs({{"x", InputKind::kData}})
      .ZeroGradient();
}

}  // namespace mxc
