// SPDX-License-Identifier: Apache-2.0
// From kernels as what writes LLVM IR to code for a device.
#pragma once

#include <span>
#include <string>

#include "codegen/llvm/session.h"
#include "ir/target/target.h"

namespace mxc {

struct DeviceCode {
  std::string ptx;       // of all kernels, one text
  std::string emulated;  // for "cuda:emulated" instead: an ELF shared object
  std::string llvm;      // if asked for: before the last passes
};

// Takes sources that write a DeviceFunction. Returns the same bytes for any
// number of threads.
DeviceCode CompileForDevice(std::span<const KernelSource> sources,
                            const Target& target,
                            const CompileOptions& options);

}  // namespace mxc
