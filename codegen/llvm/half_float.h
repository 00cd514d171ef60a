// SPDX-License-Identifier: Apache-2.0
// f16 and bf16, in an i16 each, from and to f32, by the target's instructions
// or else by integer and f32 arithmetic: never by a library. Towards the narrow
// type numbers are rounded to nearest even.
#pragma once

#include "codegen/llvm/kernel_function.h"

namespace mxc {

llvm::Value* HalfToFloat(KernelFunction& kernel, llvm::Value* half);
llvm::Value* FloatToHalf(KernelFunction& kernel, llvm::Value* x);
llvm::Value* BrainToFloat(KernelFunction& kernel, llvm::Value* brain);
llvm::Value* FloatToBrain(KernelFunction& kernel, llvm::Value* x);
// Of two vectors side by side, in one instruction (Instructions::brains_of_two).
llvm::Value* FloatsToBrains(KernelFunction& kernel, llvm::Value* low,
                            llvm::Value* high);

}  // namespace mxc
