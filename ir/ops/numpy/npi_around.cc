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

Expr HalvesToEven(const Expr& x) {
  const Expr floor = Unary(UnaryOp::kFloor, x), rest = x - floor;
  const Expr odd =
      floor - Lit(2, x) * Unary(UnaryOp::kFloor, floor * Lit(0.5, x));
  const Expr half = Lit(0.5, x);
  const Expr up = rest > half || (rest == half && odd == Lit(1, x));
  return floor + Select(up, Lit(1, x), Lit(0, x));
}

Expr Around(const AroundAttrs& attrs, Expr x) {
  if (attrs.decimals == 0) return HalvesToEven(x);
  const Expr scale = Lit(std::pow(10, static_cast<double>(attrs.decimals)), x);
  return HalvesToEven(x * scale) / scale;
}

}  // namespace

MXC_OP(NpiAround) {
  return UnaryOperatorOf<AroundAttrs>("_npi_around", "numpy.around", Around)
      .Inputs({{"x", InputKind::kData}})
      .ZeroGradient();
}

}  // namespace mxc
