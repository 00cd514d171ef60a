// SPDX-License-Identifier: Apache-2.0
// Calls of kernels from a kernel: how loops over programs run their steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/kernel_function.h"

namespace mxc {

// The kernel of one step of the program inside, a symbol of the same artifact.
// With no tasks, the step has nothing to do.
struct InnerCall {
  std::string kernel;
  int64_t tasks = 0, scratch_bytes = 0;
};

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
