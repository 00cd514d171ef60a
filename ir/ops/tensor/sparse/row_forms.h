// SPDX-License-Identifier: Apache-2.0
// Operators that keep zeros, applied to sums at some rows (ir/graph/row_form.h):
// rules for Op::AsRows.
#pragma once

#include <cstdint>
#include <span>

#include "ir/graph/builder.h"
#include "ir/graph/row_form.h"

namespace mxc {

// Data, cut to whole numbers and clipped to a table of so many rows, as
// RowForm::numbers.
Value RowNumbers(GraphBuilder& b, Value data, int64_t rows);

// Σ inputs: the rows of all of them.
RowForm RowsOfSum(std::span<const RowForm> inputs, GraphBuilder& b);

// The product of the node's two inputs, of which one has the form and as many
// rows as the product: these, each times the same row of the other input.
RowForm RowsOfProduct(const Node& node, std::span<const RowForm> inputs,
                      GraphBuilder& b);

}  // namespace mxc
