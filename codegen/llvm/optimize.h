// SPDX-License-Identifier: Apache-2.0
// Runs LLVM's passes over a module and emits its object or assembly. One module
// is used by one thread at a time.
#pragma once

#include <string>

#include "codegen/llvm/llvm.h"

namespace llvm::legacy {
class PassManager;
}

namespace mxc {

// Verifies the module (an invalid one is our bug), then cleans up addresses,
// invariants and repetitions. Loops arrive vectorised and unrolled: no
// vectoriser, no unroller, and no recognition of memset, memcpy or any other
// library function.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine);

// Runs passes on each function that has a body.
void RunPasses(llvm::Module& module, llvm::TargetMachine& machine,
               llvm::FunctionPassManager passes);

// Those that write a module of this one's triple to the stream.
void AddPassesToEmit(llvm::legacy::PassManager& passes,
                     const llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::raw_pwrite_stream& stream,
                     llvm::CodeGenFileType type);
// Consumes the module.
std::string EmitFile(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType type);

}  // namespace mxc
