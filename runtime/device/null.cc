// SPDX-License-Identifier: Apache-2.0
// A device for tests: the CPU's kernels, on threads of its own, on memory whose
// addresses mean nothing to the host. They are those of the host plus a number
// that makes them no addresses at all, so that whoever follows one is stopped.
//
// The section DEVICE of its files has one image: the names of the kernels, whose
// code is in the section CODE. A launch runs the tasks of grid[0].
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "runtime/base/memory.h"
#include "runtime/device/declarations.h"
#include "runtime/device/images.h"
#include "runtime/device/null_stream.h"

namespace mxc::runtime {

// No address of a process has bit 62 set.
constexpr uintptr_t kElsewhere = uintptr_t{1} << 62;

std::byte* ToNull(std::byte* host) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(host) +
                                      kElsewhere);
}
void* FromNull(const void* device) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device) -
                                 kElsewhere);
}

namespace {

class NullMemory : public DeviceMemory {
 public:
  explicit NullMemory(Region region)
      : DeviceMemory(ToNull(region.data())), region_(std::move(region)) {}

 private:
  const Region region_;
};

class NullModule : public DeviceModule {
 public:
  static StatusOr<std::unique_ptr<DeviceModule>> Load(
      const ModuleSource& source) {
    const auto images = ReadDeviceCode(source.code);
    if (!images.ok()) return images.status();
    for (const DeviceImage& image : *images) {
      if (image.kind != MXC_IMAGE_NAMES) continue;
      auto module = std::make_unique<NullModule>();
      module->Name(image.bytes, source.kernels);
      return std::unique_ptr<DeviceModule>(std::move(module));
    }
    return Fail(StatusCode::kUnsupported,
                "the model has no code that device 'null' can run");
  }

  const void* Find(const char* kernel) const override {
    const auto found = kernels_.find(kernel);
    return found == kernels_.end() ? nullptr : &found->second;
  }

 private:
  void Name(Bytes names, std::span<const mxc_kernel> kernels) {
    const auto* name = reinterpret_cast<const char*>(names.data());
    const char* end = name + names.size();
    for (size_t row = 0; row < kernels.size() && name < end; ++row) {
      kernels_.emplace(name, kernels[row]);
      name += std::strlen(name) + 1;
    }
  }

  std::map<std::string, mxc_kernel, std::less<>> kernels_;
};

class Null : public Device {
 public:
  const char* name() const override { return "null"; }
  bool IsHost() const override { return false; }

  StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const override {
    StatusOr<Region> region = Region::Allocate(bytes, what);
    if (!region.ok()) return region.status();
    return std::unique_ptr<DeviceMemory>(
        std::make_unique<NullMemory>(std::move(*region)));
  }

  void Write(std::byte* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(FromNull(to), from, bytes);
  }
  void Read(void* to, const void* from, uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, FromNull(from), bytes);
  }

  bool Has(const void* memory) const override {
    return (reinterpret_cast<uintptr_t>(memory) & kElsewhere) != 0;
  }

  StatusOr<std::unique_ptr<DeviceModule>> Load(
      const ModuleSource& source) const override {
    return NullModule::Load(source);
  }
  StatusOr<std::unique_ptr<Stream>> OpenStream(uint32_t beside,
                                               void* given) const override {
    if (given == nullptr) return OpenNullStream(beside);
    return Fail(StatusCode::kUnsupported,
                "device 'null' has no streams that a program could give it");
  }
};

}  // namespace

const Device* NullDevice(int number) {
  static const Null null;
  return number == 0 ? &null : nullptr;
}

}  // namespace mxc::runtime
