// SPDX-License-Identifier: Apache-2.0
// The kernel of several steps (ir/program/steps/launch.h): each has blocks of
// its own, one step's after the other's. Two steps of which one needs the other
// share theirs (channel_kernel.h).
#pragma once

#include <span>
#include <string>

#include "codegen/cuda/device_function.h"
#include "ir/program/program.h"
#include "ir/program/steps/launch.h"
#include "ir/target/target.h"

namespace mxc {

// `alignments`: of the operands, as AlignmentsOf says.
DevicePlan PlanLaunch(const Launch& launch, const Target& target,
                      const std::string& alignments);

// Returns whether there is such a kernel for these steps.
bool RunAtOnce(const Program& program, std::span<const Step* const> steps,
               const Target& target);

}  // namespace mxc
