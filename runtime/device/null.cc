// SPDX-License-Identifier: Apache-2.0
// A device for tests: the CPU's kernels on memory whose addresses mean nothing
// to the host. They are those of the host plus a number that makes them no
// addresses at all, so that whoever follows one is stopped.
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/device/declarations.h"

namespace mxc::runtime {
namespace {

// No address of a process has bit 62 set.
constexpr uintptr_t kElsewhere = uintptr_t{1} << 62;

std::byte* ToDevice(std::byte* host) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(host) +
                                      kElsewhere);
}
void* ToHost(const void* device) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device) -
                                 kElsewhere);
}

std::vector<void*> ToHost(std::span<void* const> operands) {
  std::vector<void*> pointers;
  for (void* operand : operands) pointers.push_back(ToHost(operand));
  return pointers;
}

class NullMemory : public DeviceMemory {
 public:
  explicit NullMemory(Region region)
      : DeviceMemory(ToDevice(region.data())), region_(std::move(region)) {}

 private:
  const Region region_;
};

class Null : public Device {
 public:
  bool IsHost() const override { return false; }

  StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const override {
    StatusOr<Region> region = Region::Allocate(bytes, what);
    if (!region.ok()) return region.status();
    return std::unique_ptr<DeviceMemory>(
        std::make_unique<NullMemory>(std::move(*region)));
  }

  void Write(std::byte* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(ToHost(to), from, bytes);
  }
  void Read(void* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, ToHost(from), bytes);
  }

  void Launch(mxc_kernel kernel, std::span<void* const> operands, int64_t begin,
              int64_t end, void* scratch) const override {
    kernel(ToHost(operands).data(), begin, end, scratch);
  }
  int Call(mxc_function function, const mxc_call& call) const override {
    const std::vector<void*> data =
        ToHost(std::span(call.data, call.operand_count));
    mxc_call here = call;
    here.data = data.data();
    if (call.workspace != nullptr) here.workspace = ToHost(call.workspace);
    return function(&here);
  }
};

}  // namespace

const Device& NullDevice() {
  static const Null null;
  return null;
}

}  // namespace mxc::runtime
