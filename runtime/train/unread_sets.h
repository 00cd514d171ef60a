// SPDX-License-Identifier: Apache-2.0
// What a series that goes on would write over without having read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/train/checkpoint.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

struct UnreadSet {
  CheckpointName name;
  bool foreign = false;  // mxc has not saved it
  std::string problem;   // a sentence that begins with one of its files
};

// The sets of `prefix` beyond `reached` that are damaged or that mxc has not
// saved, and, unless `run` is empty, those of other runs up to the last of
// `epochs`. Sets that are unfinished are the leavings of a killed run, which
// makes them again.
StatusOr<std::vector<UnreadSet>> FindUnreadSets(const std::string& prefix,
                                                const Position& reached,
                                                const std::string& run,
                                                int64_t epochs);

// Fine where there are none, else names the first. `resumed`: what training
// would go on from.
Status RequireNoUnreadSets(const std::vector<UnreadSet>& sets,
                           const std::optional<NewestSet>& resumed);

}  // namespace mxc::train
