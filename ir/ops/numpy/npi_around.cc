// SPDX-License-Identifier: Apache-2.0
// _npi_around: numpy.around, to `decimals` places, halves to the even digit.
#include <cmath>

#include "ir/ops/tensor/unary.h"

namespace mxc {
namespace {

struct AroundAttrs {
  int64_t decimals = 0;

  void Describe(Fields& f) {
    f("decimals", decimals).Range(-300, 300).Doc("places after the point");
  }
};

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
