// SPDX-License-Identifier: Apache-2.0
// States the attributes of _ctc_step.
#pragma once

#include "ir/ops/nn/loss/ctc.h"

namespace mxc {

struct CtcStepAttrs : CtcAttrs {
  int64_t step = 0;
  bool backward = false;

  void Describe(Fields& f) {
    CtcAttrs::Describe(f);
    f("step", step).Required().Min(0).Doc("0 … T − 1");
    f("backward", backward).Doc("whether the last step comes first");
  }
};
MXC_ATTRS(CTCStep, CtcStepAttrs);

}  // namespace mxc
