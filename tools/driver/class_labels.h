// SPDX-License-Identifier: Apache-2.0
// Which labels a network can learn: those that are numbers of classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An input whose values are the numbers of classes, 0 to classes − 1.
struct ClassLabels {
  std::string input;
  int64_t classes = 0;
  std::string ignored;  // one that may stand for none; empty: there is none
};

// Of every softmax and hinge loss whose label is an input, perhaps seen in
// another shape. Types must have been inferred.
std::vector<ClassLabels> FindClassLabels(const Graph& graph);

}  // namespace mxc
