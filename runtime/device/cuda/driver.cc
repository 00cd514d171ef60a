// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/driver.h"

#include <dlfcn.h>

#include <array>
#include <mutex>

namespace mxc::runtime {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

}  // namespace

StatusOr<const CudaDriver*> CudaDriver::Find(CudaOrdinal number) {
  struct Found {
    std::once_flag once;
    CudaDriver driver;
    Status status;
  };
  static std::array<Found, kMostCudaDevices> all;
  Found& found = all[static_cast<size_t>(number)];
  std::call_once(found.once, [&] { found.status = found.driver.Open(number); });
  if (!found.status.ok()) {
    const std::string suffix =
        number > 0 ? ":" + std::to_string(number) : std::string();
    return Fail(StatusCode::kUnsupported, "device 'cuda%s': %s", suffix.c_str(),
                found.status.message().c_str());
  }
  return &found.driver;
}

// The library stays loaded: the driver does not survive being closed.
Status CudaDriver::Open(CudaOrdinal number) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(StatusCode::kUnsupported,
                "no NVIDIA driver is installed (%s is not found)", kLibrary);
  }
#define MXC_CUDA_FUNCTION(member, symbol, parameters)                   \
  member = reinterpret_cast<decltype(member)>(dlsym(library, #symbol)); \
  if (member == nullptr) {                                              \
    return Fail(StatusCode::kUnsupported,                               \
                "the NVIDIA driver is too old (it lacks %s)", #symbol); \
  }
#include "runtime/device/cuda/driver.def"
  return OpenDevice(number);
}

Status CudaDriver::OpenDevice(CudaOrdinal number) {
  CudaOrdinal device = 0;
  int count = 0;
  CudaResult result = init(0);
  if (result == 0) result = count_devices(&count);
  if (result == 0 && number > 0 && number >= count) {
    return Fail(StatusCode::kUnsupported,
                "the machine's NVIDIA devices are %d, numbered from 0", count);
  }
  if (result == 0) result = get_device(&device, number);
  if (result != 0) return Failure(result, "find a device");
  char name[256] = "";
  int major = 0, minor = 0;
  result = get_name(name, sizeof name - 1, device);
  if (result == 0) result = get_attribute(&major, kCudaCapabilityMajor, device);
  if (result == 0) result = get_attribute(&minor, kCudaCapabilityMinor, device);
  if (result == 0) result = retain_context(&context_, device);
  if (result != 0) return Failure(result, "open the device");
  name_ = name;
  sm_ = 10 * major + minor;
  return {};
}

Status CudaDriver::Failure(CudaResult result, const std::string& what) const {
  const char* text = nullptr;
  if (error_text(result, &text) != 0 || text == nullptr) text = "unknown error";
  return Fail(result == kCudaOutOfMemory ? StatusCode::kOutOfMemory
                                         : StatusCode::kFailed,
              "cannot %s: %s", what.c_str(), text);
}

}  // namespace mxc::runtime
