// SPDX-License-Identifier: Apache-2.0
// Operations on integers of any width, one lane or a vector. None traps, and
// none is undefined: what the evaluator gives (ir/program/integers.h).
#pragma once

#include "codegen/llvm/kernel_function.h"
#include "ir/program/expr.h"

namespace mxc {

// As EmitBinary and EmitUnary (arithmetic.h), for integer types.
llvm::Value* EmitIntBinary(KernelFunction& kernel, BinaryOp op, DType dtype,
                           llvm::Value* a, llvm::Value* b);
llvm::Value* EmitIntUnary(KernelFunction& kernel, UnaryOp op, DType dtype,
                          llvm::Value* x);

}  // namespace mxc
