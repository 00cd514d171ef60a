// SPDX-License-Identifier: Apache-2.0
// A TileLoop: for each tile the kernels of its steps, one after the other, on
// one thread.
#pragma once

#include <span>
#include <string>

#include "codegen/contraction/contraction.h"

namespace mxc {

// The kernel of one step of the tile, a symbol of the same artifact. With no
// tasks, the step has nothing to do.
struct TileCall {
  std::string kernel;
  int64_t tasks = 0, scratch_bytes = 0;
};

// A step with a TileLoop; `calls`: one for each of the tile's steps.
KernelPlan PlanTileLoop(const Program& program, const Step& step,
                        std::span<const TileCall> calls);

}  // namespace mxc
