// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/program/program.h"

namespace mxc {

// About how long a step takes on one core: what recomputing it is weighed by.
double EstimateSeconds(const Program& program, const Step& step);

// The measure of evaluation_cost.h: its units in a second.
inline constexpr double kUnitsPerSecond = 1e10;

}  // namespace mxc
