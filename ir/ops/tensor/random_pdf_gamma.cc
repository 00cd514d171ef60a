// SPDX-License-Identifier: Apache-2.0
// _random_pdf_gamma: beta^alpha x^(alpha - 1) e^(-beta x) / Γ(alpha).
#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfGamma) {
  return DensityOperator(
      "gamma", {"alpha", "beta"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value &alpha = parameters[0], &beta = parameters[1];
        const Value scale =
            b.Sub(b.Mul(alpha, b.Log(beta)), LogGamma(b, alpha));
        const Value power = b.Mul(b.Sub(alpha, 1), b.Log(x));
        return b.Sub(b.Add(power, scale), b.Mul(beta, x));
      });
}

}  // namespace mxc
