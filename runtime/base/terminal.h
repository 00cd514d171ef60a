// SPDX-License-Identifier: Apache-2.0
// Asks a terminal what it can show, and fits lines into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mxc::runtime {

// Returns whether the descriptor is a terminal on which a line can be drawn
// anew: one of TERM=dumb, as in editors and logs, cannot.
bool RedrawsLines(int descriptor);

// 0 where the descriptor is no terminal, or one that does not say.
std::size_t TerminalColumns(int descriptor);

// UTF-8 text in at most so many columns (4 or more): "..." stands for what is
// cut at the front, for names tell the most at their ends.
std::string CutFront(std::string_view text, std::size_t columns);

}  // namespace mxc::runtime
