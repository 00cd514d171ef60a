// SPDX-License-Identifier: Apache-2.0
// Places buffers in an arena one after the other, where there are too many to
// search for a better arrangement.
#pragma once

#include "passes/interval_placement.h"

namespace mxc {

// Places the blocks in the order in which they come, each into the tightest of
// the gaps that there are then: for so many that more cannot be tried.
Placement PlaceInTime(std::span<const Block> blocks, int64_t alignment);

}  // namespace mxc
