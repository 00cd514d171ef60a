// SPDX-License-Identifier: Apache-2.0
// Convolutions whose cells are displaced, each output position by offsets of
// its own.
//   data    f[N, C, H, W]
//   offset  f[N, 2·D·kh·kw, h, w]   D = num_deformable_group: for each group of
//           channels and each cell of the kernel y, then x
//   mask    f[N, D·kh·kw, h, w]     factors; modulated only
//   weight  f[num_filter, C / num_group, kh, kw]
//   bias    f[num_filter]           unless no_bias
//   output  f[N, num_filter, h, w]  sizes as in Convolution
// Values between cells are interpolated; outside the image they are 0.
// C1  kernel has 2 entries, positive
// C2  stride, dilate and pad are empty or have 2 entries; stride and dilate are
//     positive, pad is not negative
// C3  data has 4 axes
// C4  the dilated kernel does not exceed the padded input
// C5  num_group divides the channels and num_filter, num_deformable_group the
//     channels
// Source: MXNet 1.9.1 operator/contrib/{,modulated_}deformable_convolution.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/nn/convolution/convolution_geometry.h"

namespace mxc {

struct DeformableAttrs : ConvolutionGeometry {
  int64_t num_deformable_group = 1;
  int64_t workspace = 1024;
  bool no_bias = false;

  void Describe(Fields& f);
};

std::optional<std::string> DeformableCheck(const DeformableAttrs& a);
std::vector<InputSpec> DeformableInputs(const DeformableAttrs& a,
                                        bool modulated);
void DeformableTypes(const DeformableAttrs& a, bool modulated,
                     TypeInference& t);
void DeformableMeaning(const DeformableAttrs& a, bool modulated,
                       Definition& def);

}  // namespace mxc
