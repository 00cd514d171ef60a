// SPDX-License-Identifier: Apache-2.0
// Copies of kernels into a layout in the basis of Winograd's or Strassen's
// algorithm, for weights that are no constants or transformed when an artifact
// is opened: G g Gᵀ, or sums of quarters, for a vector of output channels at a
// time.
#pragma once

#include <optional>

#include "codegen/cpu/contraction/contraction.h"

namespace mxc {

// A plan if the step's output is in such a basis.
std::optional<FunctionPlan> PlanWeightTransform(const Program& program,
                                                const Step& step,
                                                const Target& target);

}  // namespace mxc
