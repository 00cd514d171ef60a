// SPDX-License-Identifier: Apache-2.0
// Declares the makers of all learning-rate schedules of schedulers.def.
#pragma once

#include <memory>

#include "runtime/train/scheduler.h"

namespace mxc::train {

// Reads its arguments from the reader; errors stay in the reader.
#define MXC_SCHEDULER(name) \
  std::unique_ptr<Scheduler> MakeScheduler_##name(ArgumentReader& arguments);
#include "runtime/train/schedulers.def"
#undef MXC_SCHEDULER

}  // namespace mxc::train
