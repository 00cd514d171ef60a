// SPDX-License-Identifier: Apache-2.0
// What narrow-storage may keep in fewer bits, for whoever chooses by it.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// Contractions that read the same data, which is kept once for all of them, by
// names that PassContext::kept_layers takes.
using NarrowedLayers = std::vector<std::string>;

// Those of a program as the pass finds it, also of the programs in its steps.
std::vector<NarrowedLayers> LayersToNarrow(const Program& program);

}  // namespace mxc
