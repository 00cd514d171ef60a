// SPDX-License-Identifier: Apache-2.0
// Builds `_branch` nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

// The variable that stands for input `input` of the node in either side.
inline std::string BranchVariable(size_t input) {
  return "arg" + std::to_string(input);
}

// Outputs of `then` if `condition`, of one element, is not 0, else those of
// `otherwise`. Variables of the sides are BranchVariable(i + 1) for inputs[i];
// types are known. Constants of the sides become inputs where text would not
// hold them.
std::vector<Value> AddBranch(GraphBuilder& b, Value condition,
                             std::vector<Value> inputs, Graph then,
                             Graph otherwise, std::string_view role);

}  // namespace mxc
