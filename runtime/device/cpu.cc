// SPDX-License-Identifier: Apache-2.0
// The host itself.
#include <cstring>
#include <utility>

#include "runtime/base/memory.h"
#include "runtime/device/declarations.h"

namespace mxc::runtime {
namespace {

class HostMemory : public DeviceMemory {
 public:
  explicit HostMemory(Region region)
      : DeviceMemory(region.data()), region_(std::move(region)) {}

 private:
  const Region region_;
};

class Cpu : public Device {
 public:
  bool IsHost() const override { return true; }

  StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const override {
    StatusOr<Region> region = Region::Allocate(bytes, what);
    if (!region.ok()) return region.status();
    return std::unique_ptr<DeviceMemory>(
        std::make_unique<HostMemory>(std::move(*region)));
  }

  void Write(std::byte* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void Read(void* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  void Launch(mxc_kernel kernel, std::span<void* const> operands, int64_t begin,
              int64_t end, void* scratch) const override {
    kernel(operands.data(), begin, end, scratch);
  }
  int Call(mxc_function function, const mxc_call& call) const override {
    return function(&call);
  }
};

}  // namespace

const Device& CpuDevice() {
  static const Cpu cpu;
  return cpu;
}

}  // namespace mxc::runtime
