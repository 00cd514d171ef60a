// SPDX-License-Identifier: Apache-2.0
// Removes what no output of a program depends on.
#pragma once

#include "ir/program/program.h"

namespace mxc {

// Removes the buffers that no step names and renumbers the others. Inputs stay:
// the caller may still pass them. True if it removed any.
bool RemoveUnusedBuffers(Program& program);

// Removes the outputs of steps that nothing reads (next states stay), the steps
// without outputs, then the unused buffers. True if it removed any.
bool RemoveDeadCode(Program& program);

}  // namespace mxc
