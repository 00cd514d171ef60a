// SPDX-License-Identifier: Apache-2.0
// States the attributes of hard_sigmoid.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct HardSigmoidAttrs {
  double alpha = 0.2, beta = 0.5;

  void Describe(Fields& f) {
    f("alpha", alpha).Doc("slope");
    f("beta", beta).Doc("value at 0");
  }
};
MXC_ATTRS(HardSigmoid, HardSigmoidAttrs);

}  // namespace mxc
