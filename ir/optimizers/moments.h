// SPDX-License-Identifier: Apache-2.0
// Running means of the gradient and of its square: Adam, and what descends from
// it.
#pragma once

#include "ir/optimizers/define.h"

namespace mxc {

struct MomentOptions : OptimizerOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

  MomentOptions() { learning_rate = 0.001; }
  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("beta1", beta1).Doc("decay of the mean");
    f("beta2", beta2).Doc("decay of the second moment");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
  }
};

// m ← β1·m + (1 − β1)·g;  v ← β2·v + (1 − β2)·g², which also become the next
// values of the states "mean" and "var". `Real`: see RunningMean.
struct GradientMoments {
  Expr mean, square;
};
template <class Real>
GradientMoments UpdateMoments(Real beta1, Real beta2, const Expr& gradient,
                              UpdateBuilder& u) {
  const Expr mean = u.RunningMean("mean", beta1, gradient);
  return {mean, u.RunningMean("var", beta2, gradient * gradient)};
}

}  // namespace mxc
