// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits (ir/program/int4_blocks.h) as vectors of floats, exactly.
#pragma once

#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

// The weights in the lower, or upper, halves of as many bytes as there are
// lanes.
llvm::Value* LoadInt4(KernelFunction& kernel, llvm::Value* address, int lanes,
                      bool upper, DType dtype);
// The levels of as many scales.
llvm::Value* LoadInt4Level(KernelFunction& kernel, llvm::Value* address,
                           int lanes, DType dtype);

}  // namespace mxc::contraction
