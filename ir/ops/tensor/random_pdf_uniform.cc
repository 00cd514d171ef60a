// SPDX-License-Identifier: Apache-2.0
// _random_pdf_uniform: 1 / (high - low), also outside of the bounds.
#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfUniform) {
  return DensityOperator(
      "uniform", {"low", "high"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value width = b.Sub(parameters[1], parameters[0]);
        return b.BroadcastTo(b.Neg(b.Log(width)), x.shape());
      });
}

}  // namespace mxc
