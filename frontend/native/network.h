// SPDX-License-Identifier: Apache-2.0
// Our own JSON: a network as a person writes it, a list that reads downwards.
// frontend/native/README.md describes the language.
#pragma once

#include "frontend/frontend.h"
#include "frontend/json/json.h"
#include "frontend/native/expression.h"

namespace mxc {

// The graph that the document describes. Symbolic extents are bound by the
// options; N stands for 1 where they do not. What takes more than the budget to
// write out is refused.
Result<Graph> ReadNetwork(const JsonDocument& document,
                          const BuildOptions& options,
                          Budget budget = Budget());

}  // namespace mxc
