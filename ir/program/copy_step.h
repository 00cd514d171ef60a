// SPDX-License-Identifier: Apache-2.0
// Makes the Copy and Map steps that passes insert between two layouts or
// places.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// A step that copies buffer `from` into `to`, element by element, from one
// layout to the other. The caller says where it came from.
Step CopyStep(const Program& program, int from, int to, std::string name,
              std::vector<std::string> origins, const SourceLoc& loc);

}  // namespace mxc
