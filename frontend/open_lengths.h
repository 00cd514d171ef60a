// SPDX-License-Identifier: Apache-2.0
// Inputs that may be as long as the caller says, up to a bound.
#pragma once

#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

// The axes that inputs leave open behind the batch, and `options.open_axes`, have
// `options.length` entries at most (TensorUse::open_axis). Fails where there is
// none, or where an input has several.
Status OpenLengths(const BuildOptions& options, Graph& graph);

}  // namespace mxc
