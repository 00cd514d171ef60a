// SPDX-License-Identifier: Apache-2.0
// Gradients of which few rows are not zero: what an optimizer that leaves the
// others alone needs of them. The gradient itself is then never there.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/row_form.h"

namespace mxc {

// The rows whose sums the gradient is; empty where it is no such sum.
RowForm RowFormOf(Graph& graph, Value gradient);

struct RowGradient {
  Value rows;      // i64[slots], each once; negative: a slot without a row
  Value gradient;  // [slots, …]: of these rows
};

// Each row once, and summed in the order in which its parts stand.
RowGradient SummedRows(Graph& graph, const Node& parameter,
                       const RowForm& form);

// The rows that numbers name, as RowForm has them, of a gradient that is there as
// a whole.
RowGradient PickedRows(Graph& graph, const Node& parameter, Value gradient,
                       Value numbers);

}  // namespace mxc
