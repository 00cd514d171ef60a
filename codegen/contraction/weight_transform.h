// SPDX-License-Identifier: Apache-2.0
// Copies of kernels into a layout in Winograd's basis, for weights that are no
// constants: G g Gᵀ for a vector of output channels at a time.
#pragma once

#include <optional>

#include "codegen/contraction/contraction.h"

namespace mxc {

// A plan if the step's output is in such a basis.
std::optional<KernelPlan> PlanWeightTransform(const Program& program,
                                              const Step& step,
                                              const Target& target);

}  // namespace mxc
