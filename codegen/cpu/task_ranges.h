// SPDX-License-Identifier: Apache-2.0
// How the threads of a host share a step: each runs ranges of a few dozen tasks,
// in vectors as wide as registers are.
#pragma once

#include "codegen/schedule/dealing.h"

namespace mxc {

extern const Dealing kTaskRanges;

}  // namespace mxc
