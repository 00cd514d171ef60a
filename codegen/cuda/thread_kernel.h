// SPDX-License-Identifier: Apache-2.0
// Kernels whose tasks are those of a host's kernel, one thread each.
#pragma once

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"

namespace mxc {

// The kernel of a DeviceFunction that computes what `tasks`, planned for the
// same step, computes.
KernelPlan OnThreads(const Program& program, const Step& step,
                     KernelPlan tasks);

// Which operands begin where vectors may be read, as text: part of the key of
// a step, for the kernel relies on it.
std::string AlignmentsOf(const Program& program, const Step& step);

}  // namespace mxc
