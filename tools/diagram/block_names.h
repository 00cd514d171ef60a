// SPDX-License-Identifier: Apache-2.0
// What the names of steps say about the blocks that they belong to.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/diagram/diagram.h"

namespace mxc {

using NameSet = std::set<std::string, std::less<>>;

// Parts that so many names have that they say nothing: what guards the updates.
NameSet CommonParts(const Diagram& diagram);

// Of what a step was made of, the part whose words but the last most parts
// share; the first of several. "stage1_unit2_conv1": stage1, unit2.
std::vector<std::string> WordsOfStep(std::string_view name,
                                     const NameSet& common);

// What is left of a name when the titles of the blocks around it are gone from
// its beginning.
std::string ShortName(const Diagram& diagram, const DiagramBox& box,
                      const NameSet& common);

}  // namespace mxc
