// SPDX-License-Identifier: Apache-2.0
// Reverse-mode derivatives of kernel IR that reads an operand anywhere:
// windows, gathers, interpolation. What scatters becomes a sum over all that
// could hit an element, narrowed to few terms where the indices are linear.
#pragma once

#include <functional>
#include <span>

#include "ir/program/program.h"

namespace mxc {

// Σ over all elements i of an output of head(i) · ∂output[i] / ∂operand[j], for
// j = (Var(0), …, Var(rank − 1)); `stores` define the output, and `shape` is
// the operand's. Empty where it is zero. The operand may be read at any index
// that other operands decide, and under sums, not under other reductions.
Expr Adjoint(std::span<const Store> stores, int operand, const TensorType& type,
             const std::function<Expr(const std::vector<Expr>& index)>& head);

}  // namespace mxc
