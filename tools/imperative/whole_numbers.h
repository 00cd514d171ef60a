// SPDX-License-Identifier: Apache-2.0
// Gradients of whole numbers and truth values, which MXNet derives like real ones.
#pragma once

#include <vector>

#include "tools/imperative/function_graph.h"
#include "tools/imperative/pullback.h"

namespace mxc {

// Adds to the pullback of `function` (in pullback.graph, whose `forward` outputs
// and `variables` these are) what heads of whole numbers pass back, and what inputs
// of whole numbers are passed: the gradients of the same function of float64, cut
// towards zero to the input's type. Nothing is added where the function has none, as
// operators over bits.
void AddWholeNumbers(Pullback& pullback, const std::vector<Value>& outputs,
                     const std::vector<Node*>& variables,
                     const std::vector<bool>& heads,
                     const std::vector<bool>& needed);

}  // namespace mxc
