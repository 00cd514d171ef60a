// SPDX-License-Identifier: Apache-2.0
// The name that a misspelt one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mxc::runtime {

// The candidate with the smallest edit distance to `name`, letter case counting
// for less than a wrong letter; the first of several. Empty when even the best
// differs in more than a third of its letters, and none begins with `name`: then
// the shortest one that does.
std::string_view Nearest(std::string_view name,
                         std::span<const std::string_view> candidates);

// "; nearest: <name>" for the end of a message; nothing for an empty name.
std::string NearestNote(std::string_view nearest);

}  // namespace mxc::runtime
