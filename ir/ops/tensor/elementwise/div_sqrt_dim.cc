// SPDX-License-Identifier: Apache-2.0
// _contrib_div_sqrt_dim: x divided by the square root of the last extent.
// C1  data has at least one axis
#include <cmath>

#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

void DivSqrtDimTypes(const NoAttrs&, TypeInference& t) {
  SameTypes(t);
  t.Require(!t.In(0).known_rank() || t.In(0).rank() > 0,
            "C1: data has no axis");
}

void DivSqrtDimMeaning(const NoAttrs&, Definition& def) {
  const int64_t extent = def.InShape(0).dims().back();
  const double factor = 1 / std::sqrt(static_cast<double>(extent));
  def.Set(0, InFloat(def.In(0, def.Indices()),
                     [&](Expr x) { return x * Lit(factor, x); }));
}

}  // namespace

MXC_OP(DivSqrtDim) {
  return Op<>("_contrib_div_sqrt_dim")
      .Alias({"_npx_div_sqrt_dim"})
      .Doc("x divided by the square root of the last extent")
      .Types(DivSqrtDimTypes)
      .Meaning(DivSqrtDimMeaning)
      .ElementwiseGradient();
}

}  // namespace mxc
