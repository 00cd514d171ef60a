// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"

namespace mxc {

// The targets that stand for a GPU.
std::vector<std::string> EmulatedDevices();

// Lets this process compile for them and run what it compiled, behind
// the driver of tests/cuda.
Status UseEmulatedDevice();

}  // namespace mxc
