// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mxc::runtime {

// Whether the descriptor is a terminal on which a line can be drawn anew: one
// of TERM=dumb, as in editors and logs, cannot.
bool RedrawsLines(int descriptor);

// 0 where the descriptor is no terminal, or one that does not say.
std::size_t TerminalColumns(int descriptor);

}  // namespace mxc::runtime
