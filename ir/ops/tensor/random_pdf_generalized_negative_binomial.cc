// SPDX-License-Identifier: Apache-2.0
// _random_pdf_generalized_negative_binomial: the negative
// binomial one with mean mu and dispersion alpha: k = 1 / alpha, and
// p = 1 / (1 + mu alpha).
#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfGeneralizedNegativeBinomial) {
  return DensityOperator(
      "generalized_negative_binomial", {"mu", "alpha"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value &mean = parameters[0], &dispersion = parameters[1];
        const Value p = b.Div(1, b.Add(b.Mul(mean, dispersion), 1));
        return LogNegativeBinomial(b, x, b.Div(1, dispersion), p);
      });
}

}  // namespace mxc
