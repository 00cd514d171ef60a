// SPDX-License-Identifier: Apache-2.0
// The operations of kernel IR on LLVM values, one lane or a vector. f16 and
// bf16 are f32 in registers and rounded where they are stored or cast to.
#pragma once

#include "codegen/llvm/kernel_function.h"
#include "ir/program/expr.h"

namespace mxc {

bool IsSigned(DType dtype);
inline bool IsVector(const llvm::Value* value) {
  return value->getType()->isVectorTy();
}

llvm::Value* EmitConstant(KernelFunction& kernel, Element value, DType dtype);
llvm::Value* EmitUnary(KernelFunction& kernel, UnaryOp op, DType dtype,
                       llvm::Value* x);
// `dtype` is the operands'; both are scalars or both vectors.
llvm::Value* EmitBinary(KernelFunction& kernel, BinaryOp op, DType dtype,
                        llvm::Value* a, llvm::Value* b);
llvm::Value* EmitCast(KernelFunction& kernel, llvm::Value* x, DType from,
                      DType to);

// The same of a float to an integer, both of which can hold it (ir/program/float_bounds.h):
// cut towards zero, or rounded to the nearest, halves to the even one.
llvm::Value* EmitCutInteger(KernelFunction& kernel, llvm::Value* x, DType to);
llvm::Value* EmitRoundedInteger(KernelFunction& kernel, llvm::Value* x,
                                DType to);

// One step of a reduction, and the reduction of a vector's lanes.
llvm::Value* EmitCombine(KernelFunction& kernel, ReduceOp op, DType dtype,
                         llvm::Value* a, llvm::Value* b);
llvm::Value* EmitHorizontal(KernelFunction& kernel, ReduceOp op, DType dtype,
                            llvm::Value* vector);

// Between KernelFunction::MemoryType and ValueType.
llvm::Value* FromMemory(KernelFunction& kernel, llvm::Value* x, DType dtype);
llvm::Value* ToMemory(KernelFunction& kernel, llvm::Value* x, DType dtype);

// An element, or a vector of `lanes` of them, that lies at `address`, aligned
// to its type only.
llvm::Value* LoadElements(KernelFunction& kernel, llvm::Value* address,
                          DType dtype, int lanes);
void StoreElements(KernelFunction& kernel, llvm::Value* value,
                   llvm::Value* address, DType dtype);

// The value in every lane; `x` itself if it is a vector or lanes is 1.
llvm::Value* Splat(KernelFunction& kernel, llvm::Value* x, int lanes);

}  // namespace mxc
