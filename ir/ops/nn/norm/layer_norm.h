// SPDX-License-Identifier: Apache-2.0
// States the attributes of LayerNorm.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct LayerNormAttrs {
  int64_t axis = -1;
  double eps = 1e-5;
  bool output_mean_var = false;

  void Describe(Fields& f) {
    f("axis", axis).Doc("that is normalised; negative from the end");
    f("eps", eps).Doc("added to the variance");
    f("output_mean_var", output_mean_var)
        .Doc("whether mean and std can be read");
  }
  int axis_of(int rank) const {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
};
MXC_ATTRS(LayerNorm, LayerNormAttrs);

}  // namespace mxc
