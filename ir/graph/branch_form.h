// SPDX-License-Identifier: Apache-2.0
// Describes an operator as a choice between two graphs (Operator::branch),
// which lowering makes a Branch step.
#pragma once

#include <string>

namespace mxc {

// An operator as one of two graphs, by its first input, a condition of one
// element: `then` if it is not 0, else `otherwise`. Both are text forms; their
// outputs are the node's. The variable "arg<i>" of either is the node's input i.
struct BranchForm {
  std::string then, otherwise;
};

}  // namespace mxc
