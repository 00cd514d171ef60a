// SPDX-License-Identifier: Apache-2.0
// lamb_update_phase2, with and without a copy of the weight.
#pragma once

#include "ir/ops/updates/update.h"

namespace mxc {

struct LambPhaseTwoAttrs {
  double lr = 0, lower_bound = -1, upper_bound = -1;

  void Describe(Fields& f) {
    f("lr", lr).Required().Doc("learning rate");
    DescribeBounds(f);
  }
  void DescribeBounds(Fields& f) {
    f("lower_bound", lower_bound).Doc("the least norm; none if below 0");
    f("upper_bound", upper_bound).Doc("the greatest norm; none if below 0");
  }
};
MXC_ATTRS(LambUpdatePhase2, LambPhaseTwoAttrs);

Op<LambPhaseTwoAttrs> LambPhaseTwoOperator(std::string name, bool mixed);

}  // namespace mxc
