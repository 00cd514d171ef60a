// SPDX-License-Identifier: Apache-2.0
// Builds `_branch` nodes.
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

// Outputs of `then` if `condition`, of one element, is not 0, else those of
// `otherwise`. Variables of the sides are InnerVariable(i + 1) for inputs[i];
// types are known. Constants of the sides become inputs where text would not
// hold them.
std::vector<Value> AddBranch(GraphBuilder& b, Value condition,
                             std::vector<Value> inputs, Graph then,
                             Graph otherwise, std::string_view role);

}  // namespace mxc
