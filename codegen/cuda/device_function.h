// SPDX-License-Identifier: Apache-2.0
// The function of a kernel of a device, which each thread of a grid runs:
//
//   void name(ptr operand0, ptr operand1, …, ptr scratch)
//
// What it may ask of the device stands in primitives.def. The module that comes
// out is the source of the PTX and of the emulation (emulate.h) alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "codegen/llvm/kernel_function.h"

namespace mxc {

// Address space of NVPTX.
inline constexpr unsigned kGlobalMemory = 1;

class DeviceFunction : public KernelFunction {
 public:
  DeviceFunction(llvm::Module& module, const std::string& name, int operands,
                 const Target& target, const llvm::TargetMachine& machine);

  // Where an operand begins, in bytes.
  void SetAlignment(int operand, int bytes);

  // Thread t of the grid computes task t, if there is one: `body` is emitted
  // with begin() = t and end() = t + 1. Each has its part of the scratch.
  void EachTask(int64_t tasks, int block_threads, int64_t scratch_bytes,
                const std::function<void()>& body);

#define MXC_DEVICE_NUMBER(method, intrinsic, field) llvm::Value* method();
#include "codegen/cuda/primitives.def"

 private:
  llvm::ConstantInt* Word(int64_t value);  // i32
  void Annotate(const char* key, int value);
};

}  // namespace mxc
