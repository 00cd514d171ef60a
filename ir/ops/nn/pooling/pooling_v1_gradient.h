// SPDX-License-Identifier: Apache-2.0
// States the attributes of _pooling_v1_gradient.
#pragma once

#include "ir/ops/nn/pooling/pooling_v1.h"

namespace mxc {

struct PoolingV1GradientAttrs : PoolingV1Attrs {
  Extents data_shape = {};

  void Describe(Fields& f) {
    PoolingV1Attrs::Describe(f);
    f("data_shape", data_shape).Required().Doc("of the gradient");
  }
};
MXC_ATTRS(PoolingV1Gradient, PoolingV1GradientAttrs);

}  // namespace mxc
