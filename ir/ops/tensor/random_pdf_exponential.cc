// SPDX-License-Identifier: Apache-2.0
// _random_pdf_exponential: lam e^(-lam x).
#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfExponential) {
  return DensityOperator(
      "exponential", {"lam"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value& rate = parameters[0];
        return b.Sub(b.Log(rate), b.Mul(rate, x));
      });
}

}  // namespace mxc
