// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "ir/target/target.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

constexpr const char* kEmulated[] = {"cuda:emulated", "cuda:emulated_sm_90a"};

}  // namespace

std::vector<std::string> DeviceTargets() {
  std::vector<std::string> targets(std::begin(kEmulated), std::end(kEmulated));
  for (std::string& name : TargetNames()) {
    if (name.starts_with("cuda:sm_")) targets.push_back(std::move(name));
  }
  return targets;
}

Status UseDevice(const std::string& target) {
  if (!target.starts_with("cuda:emulated")) return Done{};
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
