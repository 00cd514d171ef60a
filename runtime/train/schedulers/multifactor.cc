// SPDX-License-Identifier: Apache-2.0
// Multiplies the rate by `factor` after each of the updates in `step`.
#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

class MultiFactorScheduler : public Scheduler {
 public:
  explicit MultiFactorScheduler(ArgumentReader& arguments)
      : Scheduler(arguments) {
    arguments.Read("step", steps_);
    arguments.Read("factor", factor_);
    bool increasing = !steps_.empty() && steps_.front() >= 1;
    for (size_t i = 1; i < steps_.size(); ++i) {
      increasing = increasing && steps_[i] > steps_[i - 1];
    }
    if (!increasing) {
      arguments.Refuse(
          "schedule 'multifactor' needs step=A,B,…, increasing from 1 or more");
    }
    if (factor_ > 1) {
      arguments.Refuse("schedule 'multifactor': the factor must not exceed 1");
    }
  }

  std::vector<double> State() const override {
    return {rate_, static_cast<double>(next_)};
  }
  bool Restore(std::span<const double> state) override {
    if (state.size() != 2 || !(state[1] >= 0) ||
        state[1] > static_cast<double>(steps_.size())) {
      return false;
    }
    rate_ = state[0];
    next_ = static_cast<size_t>(state[1]);
    return true;
  }

 protected:
  void Advance(int64_t update) override {
    for (; next_ < steps_.size() && update > steps_[next_]; ++next_) {
      rate_ *= factor_;
    }
  }

 private:
  std::vector<int64_t> steps_;
  double factor_ = 1;
  size_t next_ = 0;  // the step that has not been reached
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_multifactor(
    ArgumentReader& arguments) {
  return std::make_unique<MultiFactorScheduler>(arguments);
}

}  // namespace mxc::train
