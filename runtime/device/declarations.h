// SPDX-License-Identifier: Apache-2.0
// The functions of devices.def.
#pragma once

#include "runtime/device/device.h"

namespace mxc::runtime {

// The device of this number; null where the kind has none.
#define MXC_DEVICE(name, make) const Device* make(int number);
#include "runtime/device/devices.def"

}  // namespace mxc::runtime
