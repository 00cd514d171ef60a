// SPDX-License-Identifier: Apache-2.0
// Kernels of Map steps.
#pragma once

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// The nests of its sweeps (loops/map_nests.h), unless there is a kernel for its
// form.
KernelPlan PlanMap(const Program& program, const Step& step,
                   const Target& target);

}  // namespace mxc
