// SPDX-License-Identifier: Apache-2.0
// Inputs that are csr matrices.
#pragma once

#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

// How many elements of a row of an input are not zero, at most.
inline constexpr const char* kNonzerosAnnotation = "__nonzeros__";

// True of the matrix that TakeCsrInputs makes of an input's elements.
bool IsCsrInput(const Node& node);

// An input `data` that is annotated as csr, and with kNonzerosAnnotation, becomes
// the inputs `data_indices` and `data_values`, of which the operator _csr makes
// the matrix. Its shape and type in `options` become those of these.
Status TakeCsrInputs(Graph& graph, BuildOptions& options);

}  // namespace mxc
