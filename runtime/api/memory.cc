// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/handles.h"
#include "runtime/device/device.h"

using mxc::runtime::Device;
using mxc::runtime::DeviceMemory;
using mxc::runtime::Guarded;
using mxc::runtime::NeededArray;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;

struct mxc_memory {
  const Device* device = nullptr;
  std::unique_ptr<DeviceMemory> memory;
  size_t size = 0;
};

namespace {

Status CheckSize(const mxc_memory* memory, size_t size) {
  if (size <= memory->size) return {};
  return Fail(StatusCode::kInvalidArgument,
              "the memory has %zu bytes, but %zu are given", memory->size,
              size);
}

}  // namespace

mxc_status* mxc_memory_allocate(const mxc_executor* executor, size_t size,
                                mxc_memory** memory) {
  return Guarded({{executor, "executor"}, {memory, "memory"}}, [&]() -> Status {
    const Device& device = executor->executor->device();
    auto allocated = device.Allocate(size, "the caller");
    if (!allocated.ok()) return allocated.status();
    *memory = new mxc_memory{
        .device = &device, .memory = std::move(*allocated), .size = size};
    return {};
  });
}

void mxc_memory_free(mxc_memory* memory) { delete memory; }

void* mxc_memory_data(const mxc_memory* memory) {
  return memory != nullptr ? memory->memory->data() : nullptr;
}

mxc_status* mxc_memory_write(mxc_memory* memory, const void* values,
                             size_t size) {
  return Guarded({{memory, "memory"}, NeededArray(values, size, "values")},
                 [&]() -> Status {
                   MXC_RT_RETURN_IF_ERROR(CheckSize(memory, size));
                   memory->device->Write(memory->memory->data(), values, size);
                   return memory->device->TakeFailure();
                 });
}

mxc_status* mxc_memory_read(const mxc_memory* memory, void* values,
                            size_t size) {
  return Guarded({{memory, "memory"}, NeededArray(values, size, "values")},
                 [&]() -> Status {
                   MXC_RT_RETURN_IF_ERROR(CheckSize(memory, size));
                   memory->device->Read(values, memory->memory->data(), size);
                   return memory->device->TakeFailure();
                 });
}
