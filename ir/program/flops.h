// SPDX-License-Identifier: Apache-2.0
// How many floating-point operations a step's mathematics has: what its time
// is compared with.
#pragma once

#include "ir/program/expr.h"

namespace mxc {

// Of a value that is computed for each index of a box.
double OperationsOf(const Expr& value, const Extents& extent);

}  // namespace mxc
