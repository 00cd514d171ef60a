// SPDX-License-Identifier: Apache-2.0
// The kernel of one step: which of those that this room has.
#pragma once

#include <string>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/thread_kernel.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

struct StepKernel {
  DevicePlan kernel;
  // Whether its blocks may have any number of threads: kernels whose threads
  // do not work together are planned for `task_threads` of them.
  bool any_threads = false;
};

// `alignments`: of the operands, as AlignmentsOf says.
StepKernel PlanStep(const Program& program, const Step& step,
                    const Target& target, const std::string& alignments,
                    int task_threads = kTaskThreads);

// Seconds of a step that is lowered to a Map, if blocks share its reductions;
// else 0.
double SharedSumSeconds(const Program& program, const Step& step,
                        const Target& target);

}  // namespace mxc
