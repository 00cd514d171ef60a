// SPDX-License-Identifier: Apache-2.0
// Says which parameters an optimizer updates by rows, as MXNet's lazy_update
// does.
#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace mxc {

// Names the parameters of which an optimizer leaves rows alone, and their states,
// that a row-sparse gradient lacks.
enum class LazyRows : uint8_t {
  kNone,
  kOfSparseWeights,  // that are declared row-sparse themselves
  kOfAll,
};

// True if the parameter is one of them.
bool UpdatesRows(LazyRows lazy, const Node& parameter);

}  // namespace mxc
