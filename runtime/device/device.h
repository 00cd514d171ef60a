// SPDX-License-Identifier: Apache-2.0
// Where steps run and buffers lie. The host reads and writes the memory of the
// CPU as it likes; that of another device by copies alone: its addresses are
// numbers with which the host may count, and which only the device follows.
//
// The CPU runs kernels on the threads of an executor. Another device loads the
// file's code for it (DeviceModule) and does what is put into a Stream, which
// need not be done when the call returns.
//
// A new device is a file and a line in devices.def. Any thread may use a device
// or a module at any time, a stream one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/device/collective.h"

namespace mxc::runtime {

// A piece of memory, of the device or of the host, which goes with this.
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

// A file's code for a device.
struct ModuleSource {
  Bytes code;                           // the section DEVICE
  std::span<const mxc_kernel> kernels;  // of the section CODE, by row
};

// Code that a device has loaded.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;
  // What the kernel is called by, as long as the module lives; null if there is
  // none of this name.
  virtual const void* Find(const char* kernel) const = 0;
};

// Devices that do collectives together. All of them ask for the same ones in the
// same order, each from a thread of its own.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;
  virtual size_t size() const = 0;
  // Ends what waits for a device that will not come. Any thread may.
  virtual void Abort() = 0;
};

// What one of the device's libraries does in a kernel's place.
class LibraryStep {
 public:
  virtual ~LibraryStep() = default;
};

struct KernelLaunch {
  const void* kernel = nullptr;     // of a module
  std::span<void* const> operands;  // on the device
  mxc_launch geometry = {};
  uint64_t scratch_bytes = 0;      // as in mxc_step
  LibraryStep* library = nullptr;  // in place of the kernel; may be null
};

// What a stream did while it was recorded: it can be done again, at once.
class Recording {
 public:
  virtual ~Recording() = default;
};

// What a device does in order: each thing begins when those before it are done.
// A call may return earlier. It reads its arguments' arrays before that; memory
// that they point to is the stream's until Finish.
//
// A failure is told by Finish; until then the rest of what was put in may be
// done or not.
class Stream {
 public:
  virtual ~Stream() = default;

  virtual void Launch(const KernelLaunch& launch) = 0;
  virtual void Copy(mxc_place to_place, void* to, mxc_place from_place,
                    const void* from, uint64_t bytes) = 0;
  // Of each tensor, with the devices of the group that was joined; of this one
  // alone where there is none.
  virtual void Collective(CollectiveFunction function,
                          std::span<const CollectiveTensor> tensors);
  // Before anything is put in; null: when nothing that was recorded is done
  // again. `number`: of this stream's device in the group.
  virtual Status Join(std::shared_ptr<DeviceGroup> group, size_t number);
  virtual size_t members() const { return 1; }  // of the group, this included

  // Notes when all before it is done; not while it is recorded, nor beside.
  virtual void Mark(uint32_t number);
  // Nanoseconds from one mark to another, which both were put in before the
  // last Finish.
  virtual int64_t Between(uint32_t first, uint32_t second);

  // A function of the host, which must not use the stream.
  virtual void Call(std::function<void()> function) = 0;

  // What is put in until EndBeside begins when all before it is done, in its
  // own order, and what follows does not wait for it. `number` is free again
  // after WaitFor.
  virtual void BeginBeside(uint32_t number) = 0;
  virtual void EndBeside() = 0;
  // What follows begins when the things beside of this number are done.
  virtual void WaitFor(uint32_t number) = 0;

  // All that was put in is done, or something has failed: the first failure.
  virtual Status Finish() = 0;

  // From BeginRecord to EndRecord things are noted, not done. Nothing is beside
  // at either end.
  virtual void BeginRecord() = 0;
  virtual StatusOr<std::unique_ptr<Recording>> EndRecord() = 0;
  // A recording of this stream.
  virtual void Replay(const Recording& recording) = 0;

 private:
  // Written by calls while further marks are added, which moves none.
  std::deque<int64_t> marks_;
};

struct DeviceFacts {
  std::string name;    // "NVIDIA H100 80GB HBM3"
  int generation = 0;  // that code is compiled for: 90 of sm_90
};

class Device {
 public:
  virtual ~Device() = default;

  // Its kind, as in devices.def.
  virtual const char* name() const = 0;
  // Of the device that this machine has; kUnsupported, with the cause, where it
  // has none.
  virtual StatusOr<DeviceFacts> Facts() const { return DeviceFacts{name(), 0}; }
  // Returns whether the host follows its addresses and runs its kernels.
  virtual bool IsHost() const = 0;

  // Zeroed and aligned to MXC_PAGE. `what` is for the message: "the arena".
  virtual StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const = 0;
  // The same, of the host: what streams copy fastest from and to.
  virtual StatusOr<std::unique_ptr<DeviceMemory>> AllocateHost(
      uint64_t bytes, const char* what) const;

  // To the device, and from it, from and to memory of the host. Done when they
  // return; the next Finish of any stream tells of a failure.
  virtual void Write(std::byte* to, const void* from, uint64_t bytes) const = 0;
  virtual void Read(void* to, const void* from, uint64_t bytes) const = 0;

  // The first failure of a copy that nobody was told of.
  virtual Status TakeFailure() const { return {}; }

  // Returns whether `memory`, somebody else's, lies on this device.
  virtual bool Has(const void* memory) const = 0;

  // With others of its kind, itself among them.
  virtual StatusOr<std::shared_ptr<DeviceGroup>> OpenGroup(
      std::span<const Device* const> devices) const;

  // The host has neither: kUnsupported.
  virtual StatusOr<std::unique_ptr<DeviceModule>> Load(
      const ModuleSource& source) const;
  // Returns whether one of the device's libraries is there.
  virtual bool HasLibraries() const { return false; }
  // The task of a kernel (mxc_step.attributes), which has been checked, by a
  // library with that much memory to work in; null where the kernel is to be
  // launched. For one stream.
  virtual std::unique_ptr<LibraryStep> PlanLibrary(
      const char* /*task*/, uint64_t /*workspace_bytes*/) const {
    return nullptr;
  }
  // `beside`: what it numbers BeginBeside with is below this. `given`: the
  // caller's own stream, as the device's driver has it, into which all goes
  // that is not beside, and which outlives this one; null: one of its own.
  virtual StatusOr<std::unique_ptr<Stream>> OpenStream(uint32_t beside,
                                                       void* given) const;
};

// kNotFound where there is no device of this name. A number may follow: "cuda"
// is "cuda:0"; so is "cuda:emulated" where MXC_EMULATED_DEVICE is 1. It lives
// as long as the process. Whether the machine has it is asked when it is used.
StatusOr<const Device*> FindDevice(const char* name);

}  // namespace mxc::runtime
