// SPDX-License-Identifier: Apache-2.0
// Sums over the devices that train together (runtime/device/device.h, Stream);
// on the host, which trains alone, the outputs are the inputs.
#pragma once

#include "runtime/base/status.h"
#include "runtime/library/registry.h"

namespace mxc::runtime {

StatusOr<Function> LoadAllReduce();

}  // namespace mxc::runtime
