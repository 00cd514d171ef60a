// SPDX-License-Identifier: Apache-2.0
// CountedForm: what a node is of the first entries of its inputs' axes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

struct CountedForm {
  std::vector<Value> outputs;  // none: it cannot be said
  std::vector<int> axes;       // of each, the axis of as many entries; -1: none
  int64_t least = 0;           // entries that there have to be
};

}  // namespace mxc
