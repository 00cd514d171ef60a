// SPDX-License-Identifier: Apache-2.0
// A network as TensorBoard draws it (tensorflow.GraphDef).
#pragma once

#include <string>
#include <vector>

namespace mxc::train {

struct NetworkNode {
  std::string name, op;             // "conv0", "Convolution"; "Variable"
  std::vector<std::string> inputs;  // names of nodes
};

std::string GraphMessage(const std::vector<NetworkNode>& nodes);

}  // namespace mxc::train
