// SPDX-License-Identifier: Apache-2.0
// Products that are added to a sum (llvm.fmuladd, fadd and fmul that both say
// `contract`): where they are rounded.
#pragma once

#include "codegen/llvm/llvm.h"

namespace mxc {

// They are rounded once where the processor `fuses`, else the product by itself, and
// the module says so: what back ends fuse beyond that differs between them.
void WriteOutMultiplyAdds(llvm::Module& module, bool fuses);

// WebAssembly's relaxed multiply-adds, which LLVM makes of no other instruction:
// those of vectors round as the machine does, once or twice.
void UseRelaxedMultiplyAdds(llvm::Module& module);

// SVE's, of vectors that are one register of so many bytes, with the sum as the
// register that is written. What LLVM makes of llvm.fma may write any of its operands,
// and copies the sum before; an element for all lanes it loads and copies apart, by a
// unit that multiplies and adds.
void UseScalableMultiplyAdds(llvm::Module& module, int register_bytes);

}  // namespace mxc
