// SPDX-License-Identifier: Apache-2.0
// Decays a learning rate from one value to another: the base of polynomial and
// cosine schedules.
#pragma once

#include "runtime/train/scheduler.h"

namespace mxc::train {

// From base_lr at the end of the warm-up to final_lr at max_update, and the
// last rate from then on: final + (base − final)·decay.
class DecayScheduler : public Scheduler {
 public:
  explicit DecayScheduler(ArgumentReader& arguments);

 protected:
  void Advance(int64_t update) override;

  // `span` times what is left of it after `done` of `all` updates.
  virtual double Scale(double span, double done, double all) const = 0;

 private:
  const double base_;
  double final_ = 0;
  int64_t max_update_ = 0;
  int64_t first_ = 1;  // the number of the first update
};

}  // namespace mxc::train
