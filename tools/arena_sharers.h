// SPDX-License-Identifier: Apache-2.0
// Which buffers of an arena lie on the same bytes at other times.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/overview.h"

namespace mxc {

struct ArenaSharers {
  std::vector<int> buffers;  // in order; aliases of the buffer are among them
  size_t more = 0;           // how many there are beside these
};

// At least so many are listed where there are as many. Not all: an artifact of
// n buffers on the same bytes would make n² names.
inline constexpr size_t kMostSharersListed = 32;

// For each buffer of the overview; of those outside of the arenas nothing. In
// n log n of n buffers.
std::vector<ArenaSharers> SharersOf(const Overview& overview);

}  // namespace mxc
