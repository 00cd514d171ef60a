// SPDX-License-Identifier: Apache-2.0
// _adamw_update of several weights.
#pragma once

#include <string>
#include <vector>

#include "ir/ops/updates/moment_update.h"
#include "ir/ops/updates/multi_update.h"

namespace mxc {

struct MultiAdamwAttrs {
  std::vector<double> lrs, wds, etas;
  AdamwUpdateAttrs each;  // all but the rate, the decay and eta
  int64_t num_weights = 1;

  int64_t weights() const { return num_weights; }
  AdamwUpdateAttrs Of(int i) const;

  void Describe(Fields& f) {
    f("lrs", lrs).Required().Doc("learning rate of each weight");
    each.DescribeShared(f);
    f("wds", wds).Required().Doc("weight decay of each weight");
    f("etas", etas)
        .Required()
        .Doc("multiplies the step and the weight decay of each");
    DescribeWeights(f, "num_weights", num_weights);
  }
};

Op<MultiAdamwAttrs> MultiAdamwOperator(std::string name, WeightCopy copy);

}  // namespace mxc
