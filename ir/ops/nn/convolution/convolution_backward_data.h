// SPDX-License-Identifier: Apache-2.0
// States the attributes of _convolution_backward_data.
#pragma once

#include "ir/ops/nn/convolution/convolution_geometry.h"

namespace mxc {

struct ConvolutionBackwardDataAttrs : ConvolutionGeometry {
  Extents extent = {};

  void Describe(Fields& f) {
    ConvolutionGeometry::Describe(f);
    f("extent", extent).Required().Doc("spatial extents of the output");
  }
};
MXC_ATTRS(ConvolutionBackwardData, ConvolutionBackwardDataAttrs);

}  // namespace mxc
