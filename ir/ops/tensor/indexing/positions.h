// SPDX-License-Identifier: Apache-2.0
// Positions in an axis as elements of a type that the network chose.
#pragma once

#include "ir/graph/operator.h"

namespace mxc {

// Returns whether the type holds each of the positions 0 … count - 1 exactly;
// else the operator fails: float32 has 24 bits, and where an axis is longer its
// positions would be rounded to others. MXNet 1.9 refuses sorting there, too.
bool RequirePositions(TypeInference& t, int64_t count, DType dtype);

}  // namespace mxc
