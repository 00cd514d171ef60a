// SPDX-License-Identifier: Apache-2.0
// Reads the operators of a network from the JSON that an artifact keeps.
#pragma once

#include <string>
#include <vector>

#include "runtime/train/network_drawing.h"

namespace mxc::train {

// The nodes of MXNet's symbol JSON; nothing where it is none.
std::vector<NetworkNode> NodesOfSymbol(const std::string& json);

}  // namespace mxc::train
