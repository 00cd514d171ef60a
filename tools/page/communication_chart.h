// SPDX-License-Identifier: Apache-2.0
// When a worker of a job exchanges which parameter, as an SVG.
#pragma once

#include <string>

#include "tools/overview.h"

namespace mxc {

// Two steps side by side, by their work. Each bar is a parameter, from where its
// gradient is final to where the next step needs its value. Of an overview that
// has exchanges.
std::string CommunicationChart(const Overview& overview);

}  // namespace mxc
