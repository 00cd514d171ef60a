// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {
namespace {

// 1 is that of device 0; 0 is none.
thread_local uintptr_t current_context = 0;

}  // namespace

uint64_t DeviceCount() {
  return std::clamp<uint64_t>(Setting("MXC_FAKE_DEVICES"), 1, kMostDevices);
}

namespace {

std::array<Memory, kMostDevices>& Memories() {
  static std::array<Memory, kMostDevices> memories;
  return memories;
}

}  // namespace

uint64_t DeviceNumber() {
  return current_context > 0 ? current_context - 1 : 0;
}
Memory& DeviceMemory() { return Memories()[DeviceNumber()]; }

int DeviceOf(CudaAddress address) {
  const auto found = std::ranges::find_if(
      Memories(), [&](const Memory& m) { return m.Contains(address, 1); });
  return found == Memories().end()
             ? -1
             : static_cast<int>(found - Memories().begin());
}

uint64_t Setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

bool Fails() {
  static const uint64_t failing = Setting("MXC_FAKE_FAIL");
  static std::atomic<uint64_t> calls = 0;
  return ++calls == failing;
}

// What follows is C.

MXC_FAKE(cuInit, (unsigned)) { return Fails() ? kUnknown : 0; }
MXC_FAKE(cuDeviceGetCount, (int* count)) {
  *count = static_cast<int>(DeviceCount());
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDeviceGet, (CudaOrdinal * device, int ordinal)) {
  *device = ordinal;
  if (static_cast<uint64_t>(ordinal) >= DeviceCount()) return kInvalidDevice;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDeviceGetName, (char* name, int bytes, CudaOrdinal)) {
  std::snprintf(name, static_cast<size_t>(bytes), "emulated device");
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDeviceGetAttribute, (int* value, int attribute, CudaOrdinal)) {
  const uint64_t said = Setting("MXC_FAKE_SM");
  const auto sm = static_cast<int>(said == 0 ? 90 : said);
  *value = attribute == kCudaCapabilityMajor ? sm / 10 : sm % 10;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDevicePrimaryCtxRetain,
         (CudaContext * context, CudaOrdinal device)) {
  *context = reinterpret_cast<CudaContext>(uintptr_t{1} +
                                           static_cast<uint32_t>(device));
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuCtxSetCurrent, (CudaContext context)) {
  current_context = reinterpret_cast<uintptr_t>(context);
  return 0;
}
MXC_FAKE(cuGetErrorString, (CudaResult error, const char** text)) {
  *text = error == kCudaOutOfMemory ? "out of memory"
          : error == kInvalidValue  ? "invalid argument"
          : error == kInvalidImage  ? "device kernel image is invalid"
          : error == kNotFound      ? "named symbol not found"
                                    : "unknown error";
  return 0;
}

}  // namespace mxc::runtime
