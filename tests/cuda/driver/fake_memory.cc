// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {

namespace {

CudaResult Move(CudaAddress memory, size_t bytes,
                const std::function<void()>& move) {
  if (!DeviceMemory().Contains(memory, bytes)) return kInvalidValue;
  move();
  return 0;
}

void* At(CudaAddress address) { return reinterpret_cast<void*>(address); }

}  // namespace
// What follows is C.

MXC_FAKE(cuMemAlloc_v2, (CudaAddress * memory, size_t bytes)) {
  return Fails() ? kCudaOutOfMemory : DeviceMemory().Allocate(memory, bytes);
}
MXC_FAKE(cuMemFree_v2, (CudaAddress memory)) {
  const CudaResult drained = Drain(nullptr);
  const CudaResult released = DeviceMemory().Release(memory);
  return drained != 0 ? drained : released;
}
MXC_FAKE(cuPointerGetAttribute,
         (void* value, int attribute, CudaAddress pointer)) {
  const int device = DeviceOf(pointer);
  if (Fails() || device < 0) return kInvalidValue;
  const int asked = attribute == kCudaMemoryType
                        ? static_cast<int>(kCudaMemoryOfDevice)
                        : device;
  std::memcpy(value, &asked, sizeof asked);
  return 0;
}
MXC_FAKE(cuMemAllocHost_v2, (void** memory, size_t bytes)) {
  if (Fails()) return kCudaOutOfMemory;
  *memory = std::aligned_alloc(kPage, WholePages(bytes));
  return *memory != nullptr ? 0 : kCudaOutOfMemory;
}
MXC_FAKE(cuMemFreeHost, (void* memory)) {
  std::free(memory);
  return 0;
}
MXC_FAKE(cuMemsetD8_v2,
         (CudaAddress memory, unsigned char value, size_t bytes)) {
  if (Fails()) return kUnknown;
  return Add(nullptr, [=] {
    return Move(memory, bytes, [=] { std::memset(At(memory), value, bytes); });
  });
}
MXC_FAKE(cuMemcpyHtoD_v2, (CudaAddress to, const void* from, size_t bytes)) {
  if (Fails()) return kUnknown;
  const auto* first = static_cast<const std::byte*>(from);
  auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
  return Add(nullptr, [to, staged] {
    return Move(to, staged->size(),
                [&] { std::memcpy(At(to), staged->data(), staged->size()); });
  });
}
MXC_FAKE(cuMemcpyDtoH_v2, (void* to, CudaAddress from, size_t bytes)) {
  const CudaResult drained = Drain(nullptr);
  if (Fails() || drained != 0) return kUnknown;
  return DeviceMemory().Open([=] {
    return Move(from, bytes, [=] { std::memcpy(to, At(from), bytes); });
  });
}
MXC_FAKE(cuMemcpyHtoDAsync_v2, (CudaAddress to, const void* from, size_t bytes,
                                CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    return Move(to, bytes, [=] { std::memcpy(At(to), from, bytes); });
  });
}
MXC_FAKE(cuMemcpyDtoHAsync_v2,
         (void* to, CudaAddress from, size_t bytes, CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    return Move(from, bytes, [=] { std::memcpy(to, At(from), bytes); });
  });
}
MXC_FAKE(cuMemcpyDtoDAsync_v2, (CudaAddress to, CudaAddress from, size_t bytes,
                                CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    if (!DeviceMemory().Contains(from, bytes)) return kInvalidValue;
    return Move(to, bytes, [=] { std::memmove(At(to), At(from), bytes); });
  });
}

}  // namespace mxc::runtime
