// SPDX-License-Identifier: Apache-2.0
// Names a module's machine code before it is generated: the key of the object
// cache.
#pragma once

#include <string>

#include "codegen/llvm/llvm.h"
#include "ir/target/target.h"

namespace mxc {

// A digest of all that decides what a module that was not optimized yet is
// compiled to: its bitcode, the target, and the builds of this compiler and of
// LLVM. Empty where the linker left these no build id.
std::string KeyOfModule(const llvm::Module& module, const Target& target);

}  // namespace mxc
