// SPDX-License-Identifier: Apache-2.0
// States the attributes of _philox_attempt.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/random/philox.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc {

struct PhiloxAttemptAttrs : PhiloxAttrs {
  RejectedDraw distribution = RejectedDraw::kGamma;

  void Describe(Fields& f) {
    PhiloxAttrs::Describe(f);
    f("distribution", distribution)
        .OneOf({"gamma", "poisson"})
        .Doc("what is drawn from");
  }
};
MXC_ATTRS(PhiloxAttempt, PhiloxAttemptAttrs);

}  // namespace mxc
