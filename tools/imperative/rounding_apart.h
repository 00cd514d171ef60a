// SPDX-License-Identifier: Apache-2.0
// Whether calls in one graph round as they do one by one.
#pragma once

#include <cstddef>
#include <string>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "ir/target/target.h"

namespace mxc {

// What a call's nodes have as origin, so that steps say whose they are.
std::string OriginInCall(size_t call, const std::string& node);

// An error where calls would leave other bytes in one program: one sums what
// another multiplies, element by element (in one step the product would not be
// rounded: a fused multiply-add), or computes from another's constants alone (the
// compiler's mathematics is more exact than a kernel's).
Status RequireRoundingApart(const Graph& graph, const Target& target);

}  // namespace mxc
