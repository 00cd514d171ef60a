// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/schedulers/decay.h"

namespace mxc::train {

DecayScheduler::DecayScheduler(ArgumentReader& arguments)
    : Scheduler(arguments), base_(rate_) {
  arguments.Read("max_update", max_update_);
  arguments.Read("final_lr", final_);
  if (max_update_ <= warmup_steps()) {
    arguments.Refuse(
        "poly and cosine schedules need a max_update beyond the warm-up");
  }
}

void DecayScheduler::Advance(int64_t update) {
  if (update > max_update_) return;
  rate_ = final_ + Scale(base_ - final_,
                         static_cast<double>(update - warmup_steps()),
                         static_cast<double>(max_update_ - warmup_steps()));
}

}  // namespace mxc::train
