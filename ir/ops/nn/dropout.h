// SPDX-License-Identifier: Apache-2.0
// The random mask of Dropout.
#pragma once

#include "ir/graph/builder.h"
#include "ir/graph/operator.h"

namespace mxc {

// Whether so many random numbers can be drawn at once: fewer than 2^32. Fails
// under the given label otherwise.
bool RequireDrawable(const Shape& shape, std::string_view label,
                     TypeInference& t);

// Factors of the given type: 0 for a share p, 1 / (1 − p) for the others; drawn
// anew in every run, the same for the same origin and role.
Value DropoutMask(double p, const TensorType& type, std::string_view role,
                  GraphBuilder& b);

}  // namespace mxc
