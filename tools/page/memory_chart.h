// SPDX-License-Identifier: Apache-2.0
// What lies in the arena, step by step, as an SVG.
#pragma once

#include <string>

#include "tools/overview.h"

namespace mxc {

// Each block is a buffer, the dashed line the sum of live bytes, which no plan
// can stay below.
std::string MemoryChart(const Overview& overview);

}  // namespace mxc
