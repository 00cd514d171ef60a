// SPDX-License-Identifier: Apache-2.0
// The random mask of Dropout.
#pragma once

#include "ir/graph/builder.h"
#include "ir/graph/operator.h"

namespace mxc {

// Factors of the given type: 0 for a share p, 1 / (1 − p) for the others; drawn
// anew in every run, the same for the same origin and role.
Value DropoutMask(double p, const TensorType& type, std::string_view role,
                  GraphBuilder& b);

}  // namespace mxc
