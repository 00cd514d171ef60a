// SPDX-License-Identifier: Apache-2.0
// lamb and lans, each with the norms that it needs, of several weights.
//   r(s) = TrustRatio of formulas.h, of the weight's norm (the rounded one's where
//          it has a copy) and of s'
//   lamb: w − lr·r(s)·s, s the output of lamb_update_phase1
//   lans: w − lr·(β1·r(s)·s + (1 − β1)·r(t)·t), of the gradient divided by its norm,
//         with bias_correction; t is s where the mean is the gradient itself
// C1  a list has a number for each weight
// Source: MXNet 1.9.1 operator/contrib/multi_lamb.cc, MXNet 2.0 multi_lans.cc.
#pragma once

#include <string>
#include <vector>

#include "ir/ops/updates/lamb_phase_two.h"
#include "ir/ops/updates/moment_update.h"
#include "ir/ops/updates/multi_update.h"

namespace mxc {

struct MultiLansAttrs {
  std::vector<double> learning_rates, wds;
  LambUpdateAttrs each;      // all but the decay and t
  LambPhaseTwoAttrs bounds;  // all but the rate
  Extents step_count;
  int64_t num_tensors = 1;

  int64_t weights() const { return num_tensors; }
  LambUpdateAttrs PhaseOne(int i) const;
  LambPhaseTwoAttrs PhaseTwo(int i) const;

  void Describe(Fields& f) {
    f("learning_rates", learning_rates)
        .Required()
        .Doc("learning rate of each weight");
    each.DescribeShared(f);
    f("wds", wds).Required().Doc("weight decay of each weight");
    bounds.DescribeBounds(f);
    f("step_count", step_count)
        .Required()
        .Doc("updates of each weight with this one");
    DescribeWeights(f, "num_tensors", num_tensors);
  }
};

struct MultiLambAttrs : MultiLansAttrs {
  void Describe(Fields& f) {
    MultiLansAttrs::Describe(f);
    each.DescribeCorrection(f);
  }
};

Op<MultiLambAttrs> MultiLambOperator(std::string name, WeightCopy copy);
Op<MultiLansAttrs> MultiLansOperator(std::string name, WeightCopy copy);

}  // namespace mxc
