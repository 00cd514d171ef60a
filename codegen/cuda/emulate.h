// SPDX-License-Identifier: Apache-2.0
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
