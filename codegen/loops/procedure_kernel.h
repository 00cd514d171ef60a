// SPDX-License-Identifier: Apache-2.0
// Kernels of procedures: each statement one by one, on one lane. Scalars are in
// registers, arrays in the thread's scratch.
#pragma once

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// A step with a Procedure.
FunctionPlan PlanProcedure(const Program& program, const Step& step,
                           const Target& target);

}  // namespace mxc
