// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

// About how long a step takes on one core: what recomputing it is weighed by.
double EstimateSeconds(const Machine& machine, const Program& program,
                       const Step& step);

}  // namespace mxc
