// SPDX-License-Identifier: Apache-2.0
// Shifts of integers, broadcast: of two's complement, whose sign enters from the
// left. By a negative number, or by all bits and more, what remains is the sign
// of a shift to the right, and else 0.
#pragma once

#include "ir/program/expr.h"

namespace mxc::np {

Expr ShiftedLeft(Expr x, Expr by);
Expr ShiftedRight(Expr x, Expr by);

}  // namespace mxc::np
