// SPDX-License-Identifier: Apache-2.0
// Symbolic derivatives of kernel IR.
#pragma once

#include "ir/program/expr.h"

namespace mxc {

// ∂e/∂x, where x is what the Loads of operand `operand` yield, at whatever
// index; e holds no Reduce over such a Load. Where a function has a kink the
// derivative is MXNet's: max(a, b) and min(a, b) pass to `a` when both are
// equal, |x| and steps pass nothing.
Expr Derivative(const Expr& e, int operand);

}  // namespace mxc
