// SPDX-License-Identifier: Apache-2.0
// States the attributes of _roi_pooling_gradient.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct RoiPoolingGradientAttrs {
  Extents data_shape = {};

  void Describe(Fields& f) {
    f("data_shape", data_shape).Required().Doc("of the gradient");
  }
};
MXC_ATTRS(ROIPoolingGradient, RoiPoolingGradientAttrs);

}  // namespace mxc
