// SPDX-License-Identifier: Apache-2.0
// Which axis of what a step reads runs along which axis of what it writes: where
// both are innermost, neighbours are read and written together.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// An axis of a buffer that a step reads, and the axis of one that it writes along
// which it runs: the index of the one is that of the other, or differs by a
// constant.
struct AlignedAxes {
  int read = -1, read_axis = -1, written = -1, written_axis = -1;
};

// Of a step: through its expressions, and the groups of a contraction without a
// kernel. Views have none.
std::vector<AlignedAxes> AlignedAxesOf(const Program& program,
                                       const Step& step);

}  // namespace mxc
