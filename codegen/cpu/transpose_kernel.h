// SPDX-License-Identifier: Apache-2.0
// Copies into another layout that exchange what is contiguous, as packing the
// weights of a training step does: tiles are transposed in registers.
//
//   w[M, K] row-major  ─►  {M/32 K 32}       8 rows of 8, 8 columns of 8
//
// Filters that are flipped on the way are a case of it.
#pragma once

#include <optional>

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// A plan if the step is a copy of that kind: into a layout without border, from
// where an index is so many elements further, or back, for each of the output's,
// or for each of two parts of one, and where elements that lie side by side on
// one side are apart on the other in runs of at least a tile.
std::optional<FunctionPlan> PlanTranspose(const Program& program,
                                          const Step& step,
                                          const Target& target);

}  // namespace mxc
