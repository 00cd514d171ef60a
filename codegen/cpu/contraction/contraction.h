// SPDX-License-Identifier: Apache-2.0
// The fast kernels of contractions, as cpu_backend.cc asks for them.
#pragma once

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// A ContractionStep whose choice.algorithm is not empty.
FunctionPlan PlanContraction(const Program& program, const Step& step,
                             const Target& target);

}  // namespace mxc
