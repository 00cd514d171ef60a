// SPDX-License-Identifier: Apache-2.0
// Targets whose kernels run on NVIDIA's devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/target/target.h"

namespace mxc {

// "cuda:sm_80", "cuda:sm_90", "cuda:sm_90a", and emulated ones where they may be
// named.
std::vector<std::string> CudaTargetNames();

// The target of this name; what the artifact has for the host is for `host`.
std::optional<Target> CudaTarget(std::string_view name, const Target& host);

// A target that all devices of that name, "cuda:0", run; empty if they are not of
// this kind. An emulated one, where it may be named.
std::string CudaTargetOf(std::string_view device);

// "cuda:emulated" and "cuda:emulated_sm_90a", for tests: kernels as they would
// run on sm_90 or sm_90a, compiled for this machine. Only if MXC_EMULATED_DEVICE
// is 1.
bool IsEmulatedCuda(std::string_view name);
Target EmulatedCudaTarget(const Target& host,
                          std::string_view name = "cuda:emulated");

}  // namespace mxc
