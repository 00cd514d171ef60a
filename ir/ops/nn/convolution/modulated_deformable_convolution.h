// SPDX-License-Identifier: Apache-2.0
// States the attributes of _contrib_ModulatedDeformableConvolution.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/nn/convolution/deformable_convolution.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ModulatedAttrs : DeformableAttrs {
  int64_t im2col_step = 64;

  void Describe(Fields& f) {
    DeformableAttrs::Describe(f);
    f("im2col_step", im2col_step).Hint();
  }
};
MXC_ATTRS(ModulatedDeformableConvolution, ModulatedAttrs);

}  // namespace mxc
