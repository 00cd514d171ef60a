// SPDX-License-Identifier: Apache-2.0
// A TileLoop: for each tile the kernels of its steps, one after the other, on
// one thread.
#pragma once

#include <span>

#include "codegen/cpu/inner_call.h"
#include "codegen/llvm/kernel_plan.h"

namespace mxc {

// A step with a TileLoop; `calls`: one for each of the tile's steps.
FunctionPlan PlanTileLoop(const Program& program, const Step& step,
                          std::span<const InnerCall> calls);

}  // namespace mxc
