// SPDX-License-Identifier: Apache-2.0
// Makes a device's kernels runnable on the host, so that tests and machines
// without a GPU can check them.
#pragma once

#include <string>

#include "codegen/llvm/llvm.h"

namespace mxc {

// Turns the kernels of a device's module, which was optimized, into those of
// emulated_thread.h, for the host. Each access to global or shared memory is told
// to the device first.
void Emulate(llvm::Module& module, const std::string& triple,
             const llvm::TargetMachine& host);

}  // namespace mxc
