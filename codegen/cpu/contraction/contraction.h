// SPDX-License-Identifier: Apache-2.0
// The fast kernels of contractions, as codegen.cc and the catalog ask for them.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/llvm/session.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// How a step's work is dealt and how its kernel is written.
struct KernelPlan {
  std::string what;           // for the kernel's name: "conv3x3", "gemm"
  int64_t tasks = 1;          // a fixed grid, whatever the number of threads
  int64_t scratch_bytes = 0;  // for each thread
  // Operands are numbered as in the step: inputs, then outputs. Everything it
  // needs is captured by value: it runs on another thread.
  std::function<void(KernelFunction&)> emit;
};

// A ContractionStep whose choice.algorithm is not empty.
KernelPlan PlanContraction(const Program& program, const Step& step,
                           const Target& target);

}  // namespace mxc
