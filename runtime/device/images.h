// SPDX-License-Identifier: Apache-2.0
// The section DEVICE of an artifact (runtime/abi): the forms of its code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

struct DeviceImage {
  mxc_image_kind kind;
  uint32_t version;  // as in mxc_device_image
  Bytes bytes;       // of the section
};

// kCorrupt where the section does not say truly what is in it. Its bytes need
// no alignment.
StatusOr<std::vector<DeviceImage>> ReadDeviceCode(Bytes section);

}  // namespace mxc::runtime
