// SPDX-License-Identifier: Apache-2.0
// The loop nests of a Map step, whichever machine runs their tasks.
#pragma once

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// Every group of SweepsOf is a loop nest; the tasks of the second follow those
// of the first. `masked_tails`: vectors can be partly written.
KernelPlan PlanNests(const Program& program, const Step& step,
                     const Target& target, bool masked_tails);

}  // namespace mxc
