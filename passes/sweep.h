// SPDX-License-Identifier: Apache-2.0
// What lowering and fusion leave behind is swept away.
#pragma once

#include "ir/program/program.h"

namespace mxc {

// Deletes the buffers that no step names, but inputs, which the caller may give
// still, and renumbers the others. True if there were any.
bool DropUnusedBuffers(Program& program);

// Deletes the step outputs that nothing reads (next states live on), the steps
// without outputs, then the unused buffers. True if there were any.
bool Sweep(Program& program);

}  // namespace mxc
