// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device.h"

#include <string_view>

#include "runtime/device/declarations.h"

namespace mxc::runtime {

StatusOr<const Device*> FindDevice(const char* name) {
  const std::string_view wanted = name != nullptr ? name : "cpu";
#define MXC_DEVICE(known, make) \
  if (wanted == #known) return &make();
#include "runtime/device/devices.def"
  return Fail(StatusCode::kNotFound,
              "device '%s' is not supported by this build; there is 'cpu'",
              name);
}

}  // namespace mxc::runtime
