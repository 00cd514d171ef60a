// SPDX-License-Identifier: Apache-2.0
// Up to base_lr and down to next to nothing along half waves of the cosine
// (Smith and Topin, Super-Convergence, 2019), as PyTorch's OneCycleLR: from
// base_lr / div_factor up in pct_start of the updates, down to that divided by
// final_div_factor.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

double Between(double from, double to, double part) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

class OneCycleScheduler : public Scheduler {
 public:
  explicit OneCycleScheduler(ArgumentReader& arguments)
      : Scheduler(arguments), highest_(rate_) {
    arguments.Read("max_update", updates_);
    arguments.Read("pct_start", rising_);
    arguments.Read("div_factor", begin_);
    arguments.Read("final_div_factor", end_);
    if (updates_ < 2) {
      arguments.Refuse("schedule 'onecycle' needs a max_update of 2 or more");
    }
    if (!(rising_ > 0 && rising_ < 1)) {
      arguments.Refuse("schedule 'onecycle': pct_start is between 0 and 1");
    }
    if (!(begin_ >= 1 && end_ >= 1)) {
      arguments.Refuse("schedule 'onecycle': a factor is 1 or more");
    }
    if (warmup_steps() > 0) {
      arguments.Refuse("schedule 'onecycle' has a warm-up of its own");
    }
  }

 protected:
  void Advance(int64_t update) override {
    const double all = static_cast<double>(updates_);
    const double at = std::min(static_cast<double>(update), all) - 1;
    const double turn = rising_ * all - 1, last = all - 1;
    const double low = highest_ / begin_;
    rate_ = at <= turn
                ? Between(low, highest_, turn > 0 ? at / turn : 1)
                : Between(highest_, low / end_, (at - turn) / (last - turn));
  }

 private:
  const double highest_;
  int64_t updates_ = 0;
  double rising_ = 0.3, begin_ = 25, end_ = 1e4;
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_onecycle(ArgumentReader& arguments) {
  return std::make_unique<OneCycleScheduler>(arguments);
}

}  // namespace mxc::train
