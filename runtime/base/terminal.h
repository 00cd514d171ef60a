// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mxc::runtime {

// Whether the descriptor is a terminal on which a line can be drawn anew: one
// of TERM=dumb, as in editors and logs, cannot.
bool RedrawsLines(int descriptor);

}  // namespace mxc::runtime
