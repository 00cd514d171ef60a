// SPDX-License-Identifier: Apache-2.0
// _random_pdf_poisson: lam^x e^(-lam) / x!
#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfPoisson) {
  return DensityOperator(
      "poisson", {"lam"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        return LogPoisson(b, x, parameters[0]);
      });
}

}  // namespace mxc
