// SPDX-License-Identifier: Apache-2.0
// The host itself.
#include <cstring>

#include "runtime/device/declarations.h"

namespace mxc::runtime {
namespace {

class Cpu : public Device {
 public:
  const char* name() const override { return "cpu"; }
  bool IsHost() const override { return true; }

  StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const override {
    return AllocateHost(bytes, what);
  }

  void Write(std::byte* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void Read(void* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  bool Has(const void*) const override { return true; }
};

}  // namespace

const Device* CpuDevice(int number) {
  static const Cpu cpu;
  return number == 0 ? &cpu : nullptr;
}

}  // namespace mxc::runtime
