// SPDX-License-Identifier: Apache-2.0
// Kernels of RowUpdate steps: each slot is computed by one task, so the bytes do
// not depend on the dealing.
#pragma once

#include "codegen/llvm/kernel_plan.h"
#include "codegen/schedule/dealing.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// A step with a RowUpdate.
FunctionPlan PlanRows(const Program& program, const Step& step,
                      const Target& target, const Dealing& dealing);

}  // namespace mxc
