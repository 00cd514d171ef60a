// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/driver.h"

#include <dlfcn.h>

namespace mxc::runtime {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

}  // namespace

StatusOr<const CudaDriver*> CudaDriver::Find() {
  struct Found {
    CudaDriver driver;
    Status status = driver.Open();
  };
  static const Found found;
  if (!found.status.ok()) {
    return Fail(StatusCode::kUnsupported, "device 'cuda': %s",
                found.status.message().c_str());
  }
  return &found.driver;
}

// The library stays loaded: the driver does not survive being closed.
Status CudaDriver::Open() {
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
  return OpenFirstDevice();
}

Status CudaDriver::OpenFirstDevice() {
  CudaOrdinal device = 0;
  CudaResult result = init(0);
  if (result == 0) result = get_device(&device, 0);
  if (result != 0) return Failure(result, "find a device");
  int major = 0, minor = 0;
  result = get_attribute(&major, kCudaCapabilityMajor, device);
  if (result == 0) result = get_attribute(&minor, kCudaCapabilityMinor, device);
  if (result == 0) result = retain_context(&context_, device);
  if (result != 0) return Failure(result, "open the device");
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
