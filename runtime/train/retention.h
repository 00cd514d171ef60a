// SPDX-License-Identifier: Apache-2.0
// Which checkpoints of a run stay.
#pragma once

#include <cstdint>
#include <string>

namespace mxc::train {

struct Retention {
  int64_t steps = 2;   // sets within epochs: the newest
  int64_t epochs = 0;  // sets after epochs: the newest; 0: all
  int64_t best = 0;    // an epoch whose set stays, too; 0: none
};

// Removes the sets of the run that do not stay; those of other runs do. Failures
// are silent: nothing depends on it.
void RemoveOutdated(const std::string& prefix, const std::string& run,
                    const Retention& retention);

}  // namespace mxc::train
