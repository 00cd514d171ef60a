// SPDX-License-Identifier: Apache-2.0
// Updates that keep running means of the gradient and of its square.
#pragma once

#include "ir/ops/updates/update.h"

namespace mxc {

struct MomentUpdateOptions : UpdateOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

 protected:
  void DescribeMoments(Fields& f) {
    f("beta1", beta1).Doc("decay of the mean");
    f("beta2", beta2).Doc("decay of the second moment");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
  }
};

// The next mean and square, states 0 and 1, which the caller sets.
struct NextMoments {
  Expr mean, square;
};
NextMoments MomentsOf(const MomentUpdateOptions& a, const Expr& gradient,
                      const WeightUpdate& u);

struct AdamwUpdateAttrs : MomentUpdateOptions {
  double eta = 0;

  void Describe(Fields& f) {
    DescribeRate(f);
    f("eta", eta).Required().Doc("multiplies the step and the weight decay");
    DescribeShared(f);
  }
  // What several weights of one node have in common.
  void DescribeShared(Fields& f) {
    DescribeMoments(f);
    DescribeClip(f, "clip_gradient");
  }
};
void StepByAdamw(const AdamwUpdateAttrs& a, WeightUpdate& u);
Op<AdamwUpdateAttrs> AdamwUpdateOperator(std::string name, WeightCopy copy);

struct LambUpdateAttrs : MomentUpdateOptions {
  int64_t t = 0;
  bool bias_correction = true;

  LambUpdateAttrs() { epsilon = 1e-6; }
  void Describe(Fields& f) {
    f("t", t).Required().Doc("updates with this one");
    f("wd", wd).Required().Doc("weight decay");
    DescribeCorrection(f);
    DescribeShared(f);
  }
  void DescribeCorrection(Fields& f) {
    f("bias_correction", bias_correction)
        .Doc("moments are divided by what they lack at first");
  }
  // What several weights of one node have in common.
  void DescribeShared(Fields& f) {
    DescribeMoments(f);
    DescribeGradient(f);
  }
};
MXC_ATTRS(LambUpdatePhase1, LambUpdateAttrs);
Op<LambUpdateAttrs> LambPhaseOneOperator(std::string name, WeightCopy copy);

}  // namespace mxc
