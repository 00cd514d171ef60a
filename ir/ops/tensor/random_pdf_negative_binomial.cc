// SPDX-License-Identifier: Apache-2.0
// _random_pdf_negative_binomial: x failures before the k-th success,
// each trial one with probability p: Γ(x + k) / (Γ(k) x!) p^k (1 - p)^x.
#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfNegativeBinomial) {
  return DensityOperator(
      "negative_binomial", {"k", "p"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        return LogNegativeBinomial(b, x, parameters[0], parameters[1]);
      });
}

}  // namespace mxc
