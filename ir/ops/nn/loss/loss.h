// SPDX-License-Identifier: Apache-2.0
// For the losses that loss heads report.
#pragma once

#include "ir/graph/builder.h"

namespace mxc {

// Output 0 of a node, to be read by other nodes.
Value OutputOf(const Node& node);

// f32[1]: the sum of the elements of `terms`, divided by `count`, or else by
// how many they are.
Value SumOfLosses(GraphBuilder& b, Value terms, int64_t count);
Value MeanLoss(GraphBuilder& b, Value terms);

}  // namespace mxc
