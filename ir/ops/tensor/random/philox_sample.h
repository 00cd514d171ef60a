// SPDX-License-Identifier: Apache-2.0
// States the attributes of _philox_sample.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/random/philox.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc {

struct PhiloxSampleAttrs : PhiloxAttrs {
  Distribution distribution = Distribution::kUniform;

  void Describe(Fields& f) {
    PhiloxAttrs::Describe(f);
    f("distribution", distribution)
        .OneOf({"uniform", "normal", "exponential", "gamma", "poisson"})
        .Doc("what is drawn from");
  }
  bool rejects() const {
    return distribution == Distribution::kGamma ||
           distribution == Distribution::kPoisson;
  }
};
MXC_ATTRS(PhiloxSample, PhiloxSampleAttrs);

}  // namespace mxc
