// SPDX-License-Identifier: Apache-2.0
// The files that a training writes.
#pragma once

#include <string>
#include <vector>

namespace mxc::fit {

// Where training writes; what is empty is not written.
struct TrainOutputs {
  std::string save, log_folder, trace;
  std::vector<std::string> reads;  // files that are not to be written over
};

// A sentence for each that could not be written, before hours are spent on it.
std::vector<std::string> UnwritableOf(const TrainOutputs& outputs);

}  // namespace mxc::fit
