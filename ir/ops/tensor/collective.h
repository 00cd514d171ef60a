// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

// What `members` devices (0: any number) have of each of the inputs, which are
// of one element type, after a collective of runtime/abi/collectives.def.
std::vector<Value> CollectiveOf(GraphBuilder& b, std::string_view operation,
                                std::vector<Value> inputs, int64_t members);

}  // namespace mxc
