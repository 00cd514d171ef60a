// SPDX-License-Identifier: Apache-2.0
// Where steps run and buffers lie. The host reads and writes the memory of the
// CPU as it likes; that of another device by copies alone: its addresses are
// numbers with which the host may count, and which only the device follows.
//
// A new device is a file and a line in devices.def. Any thread may use a device
// at any time; what a launch or copy did is there when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/base/status.h"
#include "runtime/mxc.h"

namespace mxc::runtime {

// A piece of a device's memory, which goes with this.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::byte* data) : data_(data) {}
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* const data_;
};

class Device {
 public:
  virtual ~Device() = default;

  // Whether the host follows its addresses.
  virtual bool IsHost() const = 0;

  // Zeroed and aligned to MXC_PAGE. `what` is for the message: "the arena".
  virtual StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const = 0;

  // To the device, and from it, from and to memory of the host.
  virtual void Write(std::byte* to, const void* from, uint64_t bytes) const = 0;
  virtual void Read(void* to, const void* from, uint64_t bytes) const = 0;

  // Tasks [begin, end) of a kernel, on the calling thread, which owns `scratch`
  // of the host.
  virtual void Launch(mxc_kernel kernel, std::span<void* const> operands,
                      int64_t begin, int64_t end, void* scratch) const = 0;
  // A function whose operands lie on the device.
  virtual int Call(mxc_function function, const mxc_call& call) const = 0;
};

// kNotFound where there is no device of this name; null is the CPU. It lives as
// long as the process.
StatusOr<const Device*> FindDevice(const char* name);

}  // namespace mxc::runtime
