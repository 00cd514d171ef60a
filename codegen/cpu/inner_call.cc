// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/inner_call.h"

#include <algorithm>

namespace mxc {

int64_t ScratchOf(std::span<const InnerCall> calls) {
  int64_t bytes = 0;
  for (const InnerCall& call : calls) {
    if (call.tasks > 0) bytes = std::max(bytes, call.scratch_bytes);
  }
  return bytes;
}

InnerCaller::InnerCaller(KernelFunction& kernel, size_t operands,
                         int64_t scratch_begin)
    : kernel_(kernel) {
  auto& b = kernel.b();
  operands_ = b.CreateAlloca(llvm::ArrayType::get(b.getPtrTy(), operands));
  scratch_ = At(kernel.scratch(), kernel.Int(scratch_begin));
}

llvm::Value* InnerCaller::At(llvm::Value* base, llvm::Value* bytes) {
  return kernel_.ElementAddress(base, bytes, 1);
}

void InnerCaller::Call(const InnerCall& call,
                       std::span<llvm::Value* const> operands) {
  auto& b = kernel_.b();
  for (size_t i = 0; i < operands.size(); ++i) {
    b.CreateStore(operands[i],
                  b.CreateConstInBoundsGEP1_64(b.getPtrTy(), operands_, i));
  }
  auto* callee = llvm::cast<llvm::Function>(
      kernel_.module()
          .getOrInsertFunction(call.kernel,
                               kernel_.function()->getFunctionType())
          .getCallee());
  callee->setVisibility(llvm::GlobalValue::HiddenVisibility);
  if (call.scratch_bytes > 0) {
    b.CreateStore(b.getInt64(0), scratch_);  // MXC_SCRATCH_NOTE
  }
  b.CreateCall(callee,
               {operands_, kernel_.Int(0), kernel_.Int(call.tasks), scratch_});
}

}  // namespace mxc
