// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"

namespace mxc {

// The targets of GPUs: emulated ones, and "cuda:sm_80" and its like, which run
// on this machine's.
std::vector<std::string> DeviceTargets();

// Lets this process compile for one of them and run what it compiled: behind
// the driver of tests/cuda, if it is emulated.
Status UseDevice(const std::string& target);

}  // namespace mxc
