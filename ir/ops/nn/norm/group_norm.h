// SPDX-License-Identifier: Apache-2.0
// States the attributes of GroupNorm.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct GroupNormAttrs {
  int64_t num_groups = 1;
  double eps = 1e-5;
  bool output_mean_var = false;

  void Describe(Fields& f) {
    f("num_groups", num_groups).Range(1, 1 << 24).Doc("of channels");
    f("eps", eps).Doc("added to the variance");
    f("output_mean_var", output_mean_var)
        .Doc("whether mean and std can be read");
  }
};
MXC_ATTRS(GroupNorm, GroupNormAttrs);

}  // namespace mxc
