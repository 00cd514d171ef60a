// SPDX-License-Identifier: Apache-2.0
// WebAssembly's relaxed multiply-adds, which LLVM makes of no other instruction.
#pragma once

#include "codegen/llvm/llvm.h"

namespace mxc {

// Vectors' products that may be rounded together with a sum (llvm.fmuladd, fadd
// and fmul that both say `contract`) become instructions that round as the machine
// does, once or twice.
void UseRelaxedMultiplyAdds(llvm::Module& module);

}  // namespace mxc
