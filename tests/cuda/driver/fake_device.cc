// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {

uint64_t Setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

bool Fails() {
  static const uint64_t failing = Setting("MXC_FAKE_FAIL");
  static uint64_t calls = 0;
  return ++calls == failing;
}

}  // namespace mxc::runtime

using namespace mxc::runtime;  // what follows is C

MXC_FAKE(cuInit, (unsigned)) { return Fails() ? kUnknown : 0; }
MXC_FAKE(cuDeviceGet, (CudaOrdinal * device, int)) {
  *device = 0;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDeviceGetAttribute, (int* value, int attribute, CudaOrdinal)) {
  *value = attribute == kCudaCapabilityMajor ? 9 : 0;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDevicePrimaryCtxRetain, (CudaContext * context, CudaOrdinal)) {
  *context = nullptr;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuCtxSetCurrent, (CudaContext)) { return 0; }
MXC_FAKE(cuGetErrorString, (CudaResult error, const char** text)) {
  *text = error == kCudaOutOfMemory ? "out of memory"
          : error == kInvalidValue  ? "invalid argument"
          : error == kInvalidImage  ? "device kernel image is invalid"
          : error == kNotFound      ? "named symbol not found"
                                    : "unknown error";
  return 0;
}
