// SPDX-License-Identifier: Apache-2.0
// One page about an entry, all in one file: the steps as a picture that folds,
// memory over time, the table of steps, what the weights are like. Its script
// is in it and asks for no other file, so that it opens from a mail, years
// later; facts, memory and table need no script.
#pragma once

#include <string>
#include <vector>

#include "tools/diagram/diagram.h"
#include "tools/overview.h"
#include "tools/tensor_statistics.h"

namespace mxc {

// `weights`: empty where their values are not known.
std::string MakeHtmlPage(const Overview& overview, const Diagram& diagram,
                         const std::vector<TensorStatistics>& weights = {});

}  // namespace mxc
