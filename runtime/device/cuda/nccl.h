// SPDX-License-Identifier: Apache-2.0
// Collectives of several GPUs of one machine by NCCL, which is found when the first
// group is opened. What of its API is used is declared here.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

namespace mxc::runtime {

using NcclComm = struct ncclComm*;

class Nccl {
 public:
  // Once in a process; kUnsupported, with the cause, where there is none. May be
  // asked for by any thread.
  static StatusOr<const Nccl*> Find();
  static Status Failure(int result, const char* what);

#define MXC_NCCL_FUNCTION(member, symbol, parameters) \
  int(*member) parameters = nullptr;
#include "runtime/device/cuda/nccl.def"

 private:
  Status Open();
};

class CudaGroup final : public DeviceGroup {
 public:
  // By their numbers, each once.
  static StatusOr<std::shared_ptr<DeviceGroup>> Open(std::vector<int> devices);
  ~CudaGroup() override;

  void Abort() override;
  size_t size() const override { return comms_.size(); }
  // Puts it into a stream of device `number` of the group.
  Status Do(size_t number, CollectiveFunction function,
            std::span<const CollectiveTensor> tensors,
            CudaStreamHandle stream) const;

 private:
  class CudaMember;

  explicit CudaGroup(const Nccl& nccl) : nccl_(nccl) {}

  const Nccl& nccl_;
  std::vector<NcclComm> comms_;
  std::atomic<uint32_t> aborted_{0};  // as Storage::running_
};

}  // namespace mxc::runtime
