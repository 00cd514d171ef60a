// SPDX-License-Identifier: Apache-2.0
// Targets whose kernels run on NVIDIA's devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/target/target.h"

namespace mxc {

// "cuda:sm_80", "cuda:sm_90", and "cuda:emulated" where it may be named.
std::vector<std::string> CudaTargetNames();

// The target of this name; what the artifact has for the host is for `host`.
std::optional<Target> CudaTarget(std::string_view name, const Target& host);

// "cuda:emulated", for tests: kernels as they would run on a device, compiled
// for this machine. Only if MXC_EMULATED_DEVICE is 1.
bool IsEmulatedCuda(std::string_view name);
Target EmulatedCudaTarget(const Target& host);

// Of a device's machine.
int64_t Multiprocessors(const Machine& machine);
// What one multiprocessor reads and writes in a second, of 32 bytes a clock: few
// blocks do not reach what the memory can do.
double MultiprocessorBytesPerSecond(const Machine& machine);

}  // namespace mxc
