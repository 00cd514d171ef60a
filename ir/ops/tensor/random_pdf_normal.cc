// SPDX-License-Identifier: Apache-2.0
// _random_pdf_normal: e^(-½ ((x - mu) / sigma)²) / (sigma √(2π)).
#include <numbers>

#include "ir/ops/tensor/density.h"

namespace mxc {

MXC_OP(RandomPdfNormal) {
  return DensityOperator(
      "normal", {"mu", "sigma"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value apart = b.Div(b.Sub(x, parameters[0]), parameters[1]);
        const Value width =
            b.Mul(parameters[1], std::sqrt(2 * std::numbers::pi));
        return b.Sub(b.Mul(b.Square(apart), -0.5), b.Log(width));
      });
}

}  // namespace mxc
