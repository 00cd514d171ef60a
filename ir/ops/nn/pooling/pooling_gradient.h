// SPDX-License-Identifier: Apache-2.0
// States the attributes of _pooling_gradient.
#pragma once

#include "ir/ops/nn/pooling/pooling.h"

namespace mxc {

struct PoolingGradientAttrs : PoolingAttrs {
  Extents data_shape = {};

  void Describe(Fields& f) {
    PoolingAttrs::Describe(f);
    f("data_shape", data_shape).Required().Doc("of the gradient");
  }
};
MXC_ATTRS(PoolingGradient, PoolingGradientAttrs);

}  // namespace mxc
