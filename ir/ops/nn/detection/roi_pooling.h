// SPDX-License-Identifier: Apache-2.0
// States the attributes of ROIPooling.
#pragma once

#include "ir/ops/nn/detection/roi.h"

namespace mxc {

struct RoiPoolingAttrs {
  Extents pooled_size = {};
  double spatial_scale = 1;

  void Describe(Fields& f) {
    f("pooled_size", pooled_size).Required().Doc("(h, w)");
    DescribeSpatialScale(f, spatial_scale);
  }
};
MXC_ATTRS(ROIPooling, RoiPoolingAttrs);

}  // namespace mxc
