// SPDX-License-Identifier: Apache-2.0
// Kernels of Map steps that add values up at positions (ScatterSum): linear in
// the output and the values. An element of the output belongs to one task, and
// its values are added in order, so the bytes do not depend on the dealing.
#pragma once

#include <optional>

#include "codegen/llvm/kernel_plan.h"
#include "codegen/schedule/dealing.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// Empty where the step is no such sum over dense memory.
std::optional<FunctionPlan> PlanScatter(const Program& program,
                                        const Step& step, const Target& target,
                                        const Dealing& dealing);

}  // namespace mxc
