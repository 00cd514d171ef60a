// SPDX-License-Identifier: Apache-2.0
// Calls of kernels from a kernel: how loops over programs run their steps.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/llvm/kernel_plan.h"

namespace mxc {

// The scratch that the calls need.
int64_t ScratchOf(std::span<const InnerCall> calls);

// Emits calls that run all tasks of a step on the calling thread.
class InnerCaller {
 public:
  // At most `operands` in a call, whose scratch begins `scratch_begin` bytes
  // into the caller's. Emit in the function's entry, outside of loops.
  InnerCaller(KernelFunction& kernel, size_t operands, int64_t scratch_begin);

  void Call(const InnerCall& call, std::span<llvm::Value* const> operands);
  // `bytes` behind `base`.
  llvm::Value* At(llvm::Value* base, llvm::Value* bytes);

 private:
  KernelFunction& kernel_;
  llvm::Value* operands_;
  llvm::Value* scratch_;
};

}  // namespace mxc
