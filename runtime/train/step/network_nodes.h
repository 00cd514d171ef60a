// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/train/network_drawing.h"

namespace mxc::train {

// The nodes of MXNet's symbol JSON; nothing where it is none.
std::vector<NetworkNode> NodesOfSymbol(const std::string& json);

}  // namespace mxc::train
