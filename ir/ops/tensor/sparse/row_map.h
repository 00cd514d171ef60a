// SPDX-License-Identifier: Apache-2.0
// _row_map: tensors of which the rows that data name become others, as kernel IR
// over other tensors (ir/program/steps/row_update.h). An optimizer updates a
// parameter whose gradient has few rows by one step over these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/program/expr.h"

namespace mxc {

// One tensor: its element at i is that of `keep`, an operand, unless a slot names
// the row; then it is `next`, where variable k is i[k], variable rank is the
// slot, and Load n reads operand n.
struct RowMapOutput {
  int keep = 0;
  Expr next;
};

// One node of operator _row_map. Slot s names row `rows[s]` of so many slots, none
// where that is no row of the tensors, which are of one shape.
std::vector<Value> RowMapOf(GraphBuilder& builder,
                            std::span<const Value> operands, Value rows,
                            std::span<const RowMapOutput> outputs,
                            std::string_view role);

}  // namespace mxc
