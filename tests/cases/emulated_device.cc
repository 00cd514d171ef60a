// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/emulated_device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "tools/driver/unplaced_error.h"

namespace mxc {

std::vector<std::string> EmulatedDevices() {
  return {"cuda:emulated", "cuda:emulated_sm_90a"};
}

Status UseEmulatedDevice() {
#ifdef MXC_FAKE_DRIVER
  // The runtime asks for libcuda.so.1, and gets what is loaded by that name.
  if (dlopen(MXC_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return UnplacedError(
        fmt::format("the emulated device has no driver: {}", dlerror()));
  }
  setenv("MXC_EMULATED_DEVICE", "1", /*overwrite=*/1);
  return Done{};
#else
  return UnplacedError("this build has no emulated device");
#endif
}

}  // namespace mxc
