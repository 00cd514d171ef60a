// SPDX-License-Identifier: Apache-2.0
// A Repeat: turn by turn the kernels of its body, one after the other, on one
// thread.
#pragma once

#include <span>

#include "codegen/cpu/inner_call.h"
#include "codegen/llvm/kernel_plan.h"

namespace mxc {

// A step with a Repeat; `calls`: one for each of the body's steps.
KernelPlan PlanRepeat(const Program& program, const Step& step,
                      std::span<const InnerCall> calls);

}  // namespace mxc
