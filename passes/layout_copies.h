// SPDX-License-Identifier: Apache-2.0
// Inserts the copies that kernels' layouts ask for, for assign-layouts.
#pragma once

#include "ir/program/program.h"
#include "passes/kernel_demands.h"

namespace mxc {

// Copies what a kernel reads or writes in another layout than the buffer has:
// once for each buffer and layout, weights for each part of a batch. Constants
// are packed. `demands`: of the program's steps as they are. True if it changed
// something.
bool InsertLayoutCopies(Program& program, const KernelDemands& demands);

}  // namespace mxc
