// SPDX-License-Identifier: Apache-2.0
// Draws the statistics of parameters on an inspection page.
#pragma once

#include <string>
#include <vector>

#include "tools/tensor_statistics.h"

namespace mxc {

// HTML: a row for each tensor, with its values' histogram as a small drawing.
std::string StatisticsTable(const std::vector<TensorStatistics>& tensors);

}  // namespace mxc
