// SPDX-License-Identifier: Apache-2.0
// The loop nests of a Map step.
#pragma once

#include <memory>
#include <vector>

#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/kernel_plan.h"
#include "codegen/schedule/dealing.h"
#include "codegen/schedule/loop_nest.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

struct MapNests {
  std::vector<NestOperand> operands;  // inputs, then outputs
  std::vector<int> roots;             // operands with equal roots share bytes
  std::vector<LoopNest> nests;
  bool one_task_each = false;  // Dealing::one_task_each
};

// Every group of SweepsOf is a loop nest.
std::shared_ptr<const MapNests> NestsOf(const Program& program,
                                        const Step& step, const Target& target,
                                        const Dealing& dealing);

// The operands as the kernel has them.
std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                    const MapNests& map);

// The tasks of the second nest follow those of the first.
FunctionPlan PlanNests(std::shared_ptr<const MapNests> map);

}  // namespace mxc
