// SPDX-License-Identifier: Apache-2.0
// States the attributes of InstanceNorm.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct InstanceNormAttrs {
  double eps = 1e-3;

  void Describe(Fields& f) { f("eps", eps).Doc("added to the variance"); }
};
MXC_ATTRS(InstanceNorm, InstanceNormAttrs);

}  // namespace mxc
