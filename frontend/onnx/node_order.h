// SPDX-License-Identifier: Apache-2.0
// Sorts the nodes of an ONNX graph so that each stands behind what it reads;
// files need not be sorted.
#pragma once

#include <vector>

#include "frontend/onnx/schema.h"

namespace mxc::onnx {

// The nodes in the file's order, but none before those that it, or a graph within
// it, reads. Fewer than there are: the others read each other in a circle.
std::vector<const NodeProto*> InOrder(const std::vector<NodeProto>& nodes);

}  // namespace mxc::onnx
