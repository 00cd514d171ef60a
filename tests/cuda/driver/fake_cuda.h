// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 for machines without a GPU: as much of the driver's API as the
// runtime calls. "Device code" is an ELF shared object for this processor
// (codegen/cuda/emulated_thread.h).
//
// It is as unhelpful as CUDA may be. What is put into a stream begins when
// somebody waits for it; so do copies to the device and fillings, which name no
// stream. Memory of the device cannot be touched while nothing
// of the device runs, begins as NaN, and an access of a kernel that is outside
// of it, or not aligned as the kernel says, ends the process with a sentence.
// It is libnccl.so.2, too (fake_nccl.cc).
// MXC_FAKE_DEVICES=N: there are N devices, up to 8, each with its own memory.
// MXC_FAKE_SEED=N: blocks, warps and lanes run in another order.
// MXC_FAKE_FAIL=N: the N-th call fails. MXC_FAKE_SKIP=N: the N-th launch says
// that all is well, and computes nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/device/cuda/driver.h"
#include "tests/cuda/driver/memory.h"

namespace mxc::runtime {

inline constexpr CudaResult kInvalidDevice = 101, kInvalidImage = 200,
                            kNotFound = 500, kUnknown = 999;

// Of a variable of the environment; 0 if it is not there.
uint64_t Setting(const char* name);
// True for the call that is to fail.
bool Fails();

inline constexpr uint64_t kMostDevices = 8;
uint64_t DeviceCount();
// Of the context that this thread has.
uint64_t DeviceNumber();
// Of the device whose context this thread has.
Memory& DeviceMemory();
// The device that has this address; -1: none.
int DeviceOf(CudaAddress address);

// What a stream does when its turn comes; null: the stream of what names none,
// which others do not wait for.
using Work = std::function<CudaResult()>;
CudaResult Add(CudaStreamHandle stream, Work work);
CudaResult Drain(CudaStreamHandle stream);

}  // namespace mxc::runtime

#define MXC_FAKE(symbol, parameters) \
  extern "C" [[gnu::visibility("default")]] CudaResult symbol parameters
