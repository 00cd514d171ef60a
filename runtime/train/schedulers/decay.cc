// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/schedulers/decay.h"

#include <algorithm>

namespace mxc::train {

DecayScheduler::DecayScheduler(ArgumentReader& arguments)
    : Scheduler(arguments), base_(rate_) {
  arguments.Read("max_update", max_update_);
  arguments.Read("final_lr", final_);
  arguments.Read("first", first_);
  if (first_ != 0 && first_ != 1) {
    arguments.Refuse("first must be 0 or 1");
  }
  if (max_update_ <= warmup_steps()) {
    arguments.Refuse(
        "poly and cosine schedules need a max_update beyond the warm-up");
  }
}

void DecayScheduler::Advance(int64_t update) {
  const int64_t number = update - 1 + first_;
  if (number > max_update_) return;
  rate_ =
      final_ +
      Scale(base_ - final_,
            static_cast<double>(std::max(number - warmup_steps(), int64_t{0})),
            static_cast<double>(max_update_ - warmup_steps()));
}

}  // namespace mxc::train
