// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of a Graph (MXNet 1.9.1 src/nnvm/gradient.cc;
// Griewank and Walther, Evaluating Derivatives, chapter 3).
#pragma once

#include <span>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

struct HeadGradient {
  Value head;
  // Of head's type. Empty: none is given. A loss head below has its own.
  Value gradient;
};

// Adds the nodes that compute, for each of `wrt`, the gradient of the heads:
// the contributions of all readers added, the last reader's first. An empty
// Value where no gradient arrives (it is zero). Types must be known.
// `loss_scale`: f32[1], by which the gradients of loss heads are multiplied;
// empty: by nothing.
// Fails naming every operator between `wrt` and the heads that has no rule.
Result<std::vector<Value>> Gradients(Graph& graph,
                                     std::span<const HeadGradient> heads,
                                     std::span<const Value> wrt,
                                     Value loss_scale = {});

// The sum of what arrives for an output of `origin`, in order; not of nothing.
Value SumOfGradients(Graph& graph, const Node& origin,
                     const std::vector<Value>& parts);

}  // namespace mxc
