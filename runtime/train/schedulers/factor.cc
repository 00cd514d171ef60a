// SPDX-License-Identifier: Apache-2.0
// Multiplies the rate by `factor` after every `step` updates, but not below
// stop_factor_lr.
#include <algorithm>

#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

class FactorScheduler : public Scheduler {
 public:
  explicit FactorScheduler(ArgumentReader& arguments) : Scheduler(arguments) {
    arguments.Read("step", step_);
    arguments.Read("factor", factor_);
    arguments.Read("stop_factor_lr", stop_);
    if (step_ < 1)
      arguments.Refuse("schedule 'factor' needs a step of 1 or more");
    if (factor_ > 1) {
      arguments.Refuse("schedule 'factor': the factor must not exceed 1");
    }
  }

  std::vector<double> State() const override {
    return {rate_, static_cast<double>(count_)};
  }
  bool Restore(std::span<const double> state) override {
    if (state.size() != 2 || !(state[1] >= 0 && state[1] < 0x1p53)) {
      return false;
    }
    rate_ = state[0];
    count_ = static_cast<int64_t>(state[1]);
    return true;
  }

 protected:
  void Advance(int64_t update) override {
    while (update > count_ + step_) {
      count_ += step_;
      rate_ = std::max(rate_ * factor_, stop_);
    }
  }

 private:
  int64_t step_ = 0;
  double factor_ = 1, stop_ = 1e-8;
  int64_t count_ = 0;  // the update after which the rate last changed
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_factor(ArgumentReader& arguments) {
  return std::make_unique<FactorScheduler>(arguments);
}

}  // namespace mxc::train
