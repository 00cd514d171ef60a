// SPDX-License-Identifier: Apache-2.0
// Deconvolution's attributes and geometry, and its form as a contraction.
#pragma once

#include <algorithm>
#include <optional>

#include "ir/ops/nn/convolution/convolution_geometry.h"

namespace mxc {

struct DeconvolutionAttrs : ConvolutionLayer {
  Extents adj, target_shape;

  DeconvolutionAttrs() {
    workspace = 512;
    no_bias = true;
  }
  void Describe(Fields& f);

  // A target_shape of zeros counts as none.
  bool has_target() const {
    return std::ranges::any_of(target_shape, [](int64_t n) { return n != 0; });
  }
};
MXC_ATTRS(Deconvolution, DeconvolutionAttrs);

// Where one spatial axis of data of length `length` comes to lie: `pad` cells
// cut off at the front, `output` cells left (negative: target_shape is larger
// than there are), the last `adj` of them beyond the windows.
struct Placement {
  int64_t pad = 0, output = 0, adj = 0;
};
Placement PlacementOf(const DeconvolutionAttrs& a, int d, int64_t length);

// As of the gradient of the convolution that it transposes.
std::optional<Contraction> DeconvolutionContraction(const DeconvolutionAttrs& a,
                                                    const Definition& def);

}  // namespace mxc
