// SPDX-License-Identifier: Apache-2.0
// The functions of devices.def.
#pragma once

#include "runtime/device/device.h"

namespace mxc::runtime {

#define MXC_DEVICE(name, make) const Device& make();
#include "runtime/device/devices.def"

}  // namespace mxc::runtime
