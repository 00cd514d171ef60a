// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/element.h"
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

// Tests run "cuda" behind a driver of their own, and may say so.
bool IsEmulated(std::string_view name) {
  const char* allowed = std::getenv("MXC_EMULATED_DEVICE");
  return name == "cuda:emulated" && allowed != nullptr &&
         std::string_view(allowed) == "1";
}

// "" is 0, ":7" is 7; -1 if it is no number.
int NumberOf(std::string_view text) {
  if (text.empty()) return 0;
  const std::string_view digits = text.substr(1);
  int number = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  const bool whole = read.ec == std::errc() && read.ptr == end;
  return whole && std::to_string(number) == digits ? number : -1;
}

Status RunsOnHost(const Device& device) {
  return Fail(StatusCode::kUnsupported, "device '%s' runs the host's code",
              device.name());
}

}  // namespace

StatusOr<std::unique_ptr<DeviceMemory>> Device::AllocateHost(
    uint64_t bytes, const char* what) const {
  StatusOr<Region> region = Region::Allocate(bytes, what);
  if (!region.ok()) return region.status();
  return std::unique_ptr<DeviceMemory>(
      std::make_unique<HostMemory>(std::move(*region)));
}

StatusOr<std::unique_ptr<DeviceModule>> Device::Load(
    const ModuleSource&) const {
  return RunsOnHost(*this);
}

StatusOr<std::unique_ptr<Stream>> Device::OpenStream(uint32_t, void*) const {
  return RunsOnHost(*this);
}

StatusOr<std::shared_ptr<DeviceGroup>> Device::OpenGroup(
    std::span<const Device* const>) const {
  return Fail(StatusCode::kUnsupported, "devices '%s' do not train together",
              name());
}

void Stream::Collective(CollectiveFunction function,
                        std::span<const CollectiveTensor> tensors) {
  LoneMember member([this](void* to, const void* from, uint64_t bytes) {
    Copy(MXC_PLACE_DEVICE, to, MXC_PLACE_DEVICE, from, bytes);
  });
  for (const CollectiveTensor& tensor : tensors) function(member, tensor);
}

void Stream::Mark(uint32_t number) {
  if (marks_.size() <= number) marks_.resize(number + 1);
  Call([mark = &marks_[number]] { *mark = Nanoseconds(); });
}

int64_t Stream::Between(uint32_t first, uint32_t second) {
  return marks_[second] - marks_[first];
}

Status Stream::Join(std::shared_ptr<DeviceGroup>, size_t) {
  return Fail(StatusCode::kUnsupported, "this device joins no group");
}

StatusOr<const Device*> FindDevice(const char* name) {
  const std::string_view whole = name != nullptr ? name : "cpu";
  const size_t colon = std::min(whole.find(':'), whole.size());
  const std::string_view kind = whole.substr(0, colon);
  const int number = IsEmulated(whole) ? 0 : NumberOf(whole.substr(colon));
  const Device* found = nullptr;
#define MXC_DEVICE(known, make) \
  if (kind == #known) found = make(number);
#include "runtime/device/devices.def"
  if (found != nullptr) return found;
  return Fail(
      StatusCode::kNotFound,
      "device '%s' is not supported by this build; there are 'cpu' and 'cuda'",
      name);
}

}  // namespace mxc::runtime
