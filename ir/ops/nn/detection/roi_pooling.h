// SPDX-License-Identifier: Apache-2.0
// States the attributes of ROIPooling.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct RoiPoolingAttrs {
  Extents pooled_size = {};
  double spatial_scale = 1;

  void Describe(Fields& f) {
    f("pooled_size", pooled_size).Required().Doc("(h, w)");
    f("spatial_scale", spatial_scale)
        .Required()
        .Range(0, 1)
        .Doc("from rois' coordinates to cells");
  }
};
MXC_ATTRS(ROIPooling, RoiPoolingAttrs);

}  // namespace mxc
