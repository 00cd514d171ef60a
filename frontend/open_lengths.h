// SPDX-License-Identifier: Apache-2.0
// Inputs that may be as long as the caller says, up to a bound.
#pragma once

#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

// The axes that inputs leave open behind the batch, and `options.open_axes`, have
// as many entries as `options.lengths` say of their lengths, at most
// (TensorUse::open). Fails where there is none, and where the options do not name
// the lengths that there are.
Status OpenLengths(const BuildOptions& options, Graph& graph);

}  // namespace mxc
