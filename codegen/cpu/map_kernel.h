// SPDX-License-Identifier: Apache-2.0
// Kernels of Map steps, and of contractions for which there is no fast one.
#pragma once

#include <string>

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// The nests of its sweeps (map_nests.h), unless there is a kernel for its form.
KernelPlan PlanMap(const Program& program, const Step& step,
                   const Target& target);

// A contraction written out as a sum, with its epilogue around it. `in_vectors`:
// of outputs that lie side by side, for each of which a loop would otherwise run
// through all data that one of them meets.
Map MapOfContraction(const Program& program, const Step& step,
                     bool in_vectors = false);

}  // namespace mxc
