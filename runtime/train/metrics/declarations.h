// SPDX-License-Identifier: Apache-2.0
// Declares the makers of all metrics of metrics.def.
#pragma once

#include <memory>
#include <string>

#include "runtime/train/metric.h"

namespace mxc::train {

// Reads its arguments from the reader; errors stay in the reader. `asked` is
// the name in metrics.def that the user wrote.
#define MXC_METRIC(function, name)                                         \
  std::unique_ptr<Metric> MakeMetric_##function(ArgumentReader& arguments, \
                                                const std::string& asked);
#include "runtime/train/metrics.def"
#undef MXC_METRIC

}  // namespace mxc::train
