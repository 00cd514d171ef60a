// SPDX-License-Identifier: Apache-2.0
// How many random numbers one draw may have: its counter has 32 bits.
#pragma once

#include <string_view>

#include "ir/graph/operator.h"

namespace mxc {

// Whether so many random numbers can be drawn at once: fewer than 2^32. Fails
// under the given label otherwise.
bool RequireDrawable(const Shape& shape, std::string_view label,
                     TypeInference& t);

}  // namespace mxc
