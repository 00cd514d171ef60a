// SPDX-License-Identifier: Apache-2.0
// The files that a training writes.
#pragma once

#include <string>
#include <vector>

#include "runtime/fit/request.h"

namespace mxc::fit {

// Where training writes; what is empty is not written.
struct TrainOutputs {
  std::string save, log_folder, trace;
  std::vector<std::string> reads;  // files that are not to be written over
};

// A sentence for each that could not be written, before hours are spent on it.
std::vector<std::string> UnwritableOf(const TrainOutputs& outputs);
// The same of a training of the artifact at `path`, which may have none.
std::vector<std::string> UnwritableOf(const Request& request,
                                      const std::string& path);

}  // namespace mxc::fit
