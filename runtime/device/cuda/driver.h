// SPDX-License-Identifier: Apache-2.0
// CUDA's driver, found when the first device is asked for. What of its API is
// used is declared here: nothing of CUDA is needed to build the runtime.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace mxc::runtime {

using CudaResult = int;
using CudaOrdinal = int;
using CudaAddress = unsigned long long;
using CudaContext = struct CUctx_st*;
using CudaModuleHandle = struct CUmod_st*;
using CudaFunction = struct CUfunc_st*;
using CudaStreamHandle = struct CUstream_st*;
using CudaEvent = struct CUevent_st*;
using CudaGraph = struct CUgraph_st*;
using CudaGraphExec = struct CUgraphExec_st*;

// Values of cuda.h.
inline constexpr CudaResult kCudaOutOfMemory = 2;
inline constexpr unsigned kCudaNonBlockingStream = 1;
inline constexpr unsigned kCudaEventWithTime = 0, kCudaEventWithoutTime = 2;
inline constexpr int kCudaRelaxedCapture = 2;
inline constexpr int kCudaCapabilityMajor = 75, kCudaCapabilityMinor = 76;
// A function's attribute: how many bytes its blocks may share, where they are
// more than all functions may have.
inline constexpr int kCudaMostSharedBytes = 8;
inline constexpr unsigned kCudaSharedBytes = 48 << 10;

// Options of loading: where the driver's assembler says what it does not like,
// and how many bytes there are for that.
inline constexpr int kCudaErrorLog = 5, kCudaErrorLogBytes = 6;
inline constexpr int kCudaMemoryType = 2, kCudaMemoryOrdinal = 9;
inline constexpr unsigned kCudaMemoryOfDevice = 2;

inline constexpr int kMostCudaDevices = 64;

// The driver with the context of one of its devices.
class CudaDriver {
 public:
  // Once in a process for each device, of which `number` is below
  // kMostCudaDevices; kUnsupported, with the cause, where there is none. May be
  // asked for by any thread.
  static StatusOr<const CudaDriver*> Find(CudaOrdinal number);

  // The capability of the device: 90 of sm_90.
  int sm() const { return sm_; }
  // "NVIDIA H100 80GB HBM3".
  const std::string& name() const { return name_; }
  // Each thread that calls functions names the context first.
  void Enter() const { (void)set_context(context_); }
  // "launch kernel 'k': an illegal memory access was encountered". `what` was
  // being done.
  Status Failure(CudaResult result, const std::string& what) const;
  // Keeps the first failure of those that nobody was told of; the next stream
  // that finishes takes it.
  void NoteCopy(CudaResult result) const {
    CudaResult none = 0;
    if (result != 0) untold_.compare_exchange_strong(none, result);
  }
  Status TakeUntold() const {
    const CudaResult result = untold_.exchange(0);
    if (result == 0) return {};
    return Failure(result, "copy between the host and the device");
  }

#define MXC_CUDA_FUNCTION(member, symbol, parameters) \
  CudaResult(*member) parameters = nullptr;
#include "runtime/device/cuda/driver.def"

 private:
  Status Open(CudaOrdinal number);
  Status OpenDevice(CudaOrdinal number);

  CudaContext context_ = nullptr;
  int sm_ = 0;
  std::string name_;
  mutable std::atomic<CudaResult> untold_{0};
};

}  // namespace mxc::runtime
