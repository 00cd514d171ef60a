// SPDX-License-Identifier: Apache-2.0
// Gradients of deformable convolutions.
#pragma once

#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/nn/convolution/deformable_convolution.h"

namespace mxc {

// Of data by adding what each sampled position gets to its four cells; of the
// other inputs by the operator's meaning.
std::vector<Value> DeformableGradients(const DeformableAttrs& a, bool modulated,
                                       GradientBuilder& g);

}  // namespace mxc
