// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// By which algorithm a step is computed, for people: "winograd4 8c", "loops",
// "view".
std::string KernelName(const Step& step);

// Those of all steps, as a line of the manifest has them, and back.
std::string KernelNames(const Program& program);
std::vector<std::string> ParseKernelNames(const std::string& line);

}  // namespace mxc
