// SPDX-License-Identifier: Apache-2.0
// What `mxc train` must know of the checkpoints that mxc-run will write. The
// options that name them are mxc-run's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/network.h"

namespace mxc {

struct SavedSeries {
  std::string prefix;  // --save; empty: nothing is saved
  bool resume = false, overwrite = false;
};

SavedSeries SeriesAmong(const std::vector<std::string>& words);

// Refuses what mxc-run would refuse after the network has been compiled.
Status RequireRoom(const SavedSeries& series);

// What training begins with. Where it is resumed, nothing is read that the
// checkpoint replaces, and where a series is written over, nothing of it. `anew`:
// nothing that merely lies beside the network.
Result<std::shared_ptr<const ParameterFile>> FirstParameters(
    const NetworkRequest& network, const SavedSeries& series, bool anew);

}  // namespace mxc
