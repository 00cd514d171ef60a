// SPDX-License-Identifier: Apache-2.0
// _map: tensors as kernel IR over other tensors, for rules that know better
// than to be a composition: all that an optimizer does to a parameter is one
// step with a store for each state.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/program/expr.h"

namespace mxc {

// One tensor: its element at i is `value`, where variable k is i[k] and Load n
// reads operand n of those that MapOf is given. Converted to the type's.
struct MapOutput {
  TensorType type;
  Expr value;
};

// One node of operator _map. Operands that no output reads are left out.
std::vector<Value> MapOf(GraphBuilder& builder, std::span<const Value> operands,
                         std::span<const MapOutput> outputs,
                         std::string_view role);

}  // namespace mxc
