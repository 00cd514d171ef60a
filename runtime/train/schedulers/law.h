// SPDX-License-Identifier: Apache-2.0
// Multiplies a base rate by a function of the step: the base of Caffe's
// policies.
#pragma once

#include <algorithm>

#include "runtime/train/scheduler.h"

namespace mxc::train {

// base_lr times a function of the number of updates made before, the warm-up's
// left out: policies of Caffe (sgd_solver.cpp of BVLC/caffe).
class LawScheduler : public Scheduler {
 public:
  explicit LawScheduler(ArgumentReader& arguments)
      : Scheduler(arguments), base_(rate_) {}

 protected:
  void Advance(int64_t update) override {
    const int64_t before = std::max(update - 1 - warmup_steps(), int64_t{0});
    rate_ = base_ * Factor(static_cast<double>(before));
  }

  virtual double Factor(double updates) const = 0;

 private:
  const double base_;
};

}  // namespace mxc::train
