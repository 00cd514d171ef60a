// SPDX-License-Identifier: Apache-2.0
// Kernels of Map steps, and of contractions for which there is no fast one.
#pragma once

#include <string>

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// Every group of SweepsOf is a loop nest; the tasks of the second follow those
// of the first.
KernelPlan PlanMap(const Program& program, const Step& step,
                   const Target& target);

// A contraction written out as a sum, with its epilogue around it.
Map MapOfContraction(const Program& program, const Step& step);

}  // namespace mxc
