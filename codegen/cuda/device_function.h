// SPDX-License-Identifier: Apache-2.0
// The function of a kernel of a device, which each thread of a grid runs:
//
//   void name(ptr operand0, ptr operand1, …, ptr scratch)
//
// or, of many operands, a table of them (runtime/abi/parameters.h).
// What it may ask of the device stands in primitives.def. The module that comes
// out is the source of the PTX and of the emulation (emulate.h) alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/llvm/kernel_plan.h"

namespace mxc {

// Address spaces of NVPTX.
inline constexpr unsigned kGlobalMemory = 1;
inline constexpr unsigned kSharedMemory = 3;

// Threads of a warp.
inline constexpr int kWarp = 32;

// A row of primitives.def: assembly, and the field of mxc_emulated_thread.
struct DeviceCall {
  std::string constraints;
  std::string ptx;
  size_t field;
};
// The one with that text; null if there is none.
const DeviceCall* FindDeviceCall(std::string_view ptx);

class DeviceFunction : public KernelFunction {
 public:
  DeviceFunction(llvm::Module& module, const std::string& name, int operands,
                 const Target& target, const llvm::TargetMachine& machine);

  // Where an operand begins, in bytes.
  void SetAlignment(int operand, int bytes);
  // Of the threads of a block; of a kernel inside of this one, no more than
  // those that this one has.
  void SetBlock(int threads);
  // The memory that the threads of a block share, as many bytes as it is
  // launched with; aligned to 16 of them.
  llvm::Value* Shared();

  // Thread t of the grid computes task t, if there is one: `body` is emitted
  // with begin() = t and end() = t + 1. Each has its part of the scratch.
  void EachTask(int64_t tasks, int block_threads, int64_t scratch_bytes,
                const std::function<void()>& body);

  // The number of the block, in the kernel that is emitted: i32.
  llvm::Value* Block() { return block_ != nullptr ? block_ : BlockOfGrid(); }
  // The operand as memory of the device.
  llvm::Value* GlobalOperand(int operand) { return global_[operand]; }

  // A kernel inside of this one, whose operand i is this one's operand
  // `operands[i]`.
  void WithOperands(const std::vector<int>& operands,
                    const std::function<void()>& body);
  // One whose block `block` is this one's block.
  void WithBlock(llvm::Value* block, const std::function<void()>& body);

  llvm::ConstantInt* Word(int64_t value);  // i32
  llvm::Value* Wide(llvm::Value* word);    // as an i64
  // The last coordinate of a number of that many, whose others are left; i32.
  llvm::Value* Next(llvm::Value*& number, int64_t extent);
  // The value of the lane whose number differs in the mask's bits, whatever
  // its type.
  llvm::Value* FromLaneXor(llvm::Value* value, int mask);

  // The thread's number in its warp: i32.
  llvm::Value* Lane();

  // MXC_DEVICE_PRODUCT: what a warpgroup adds to the sums. Descriptors are i64;
  // the left side comes first.
  struct WarpgroupProduct {
    llvm::Value* descriptors[2];
    bool turned[2];  // lines lie side by side, not the depth
    bool f16 = false;
  };
  std::vector<llvm::Value*> Multiply(const WarpgroupProduct& product,
                                     const std::vector<llvm::Value*>& sums);
  // MXC_DEVICE_WAIT: the sums when at most so many groups are on their way.
  std::vector<llvm::Value*> WaitForProducts(
      const std::vector<llvm::Value*>& sums, int groups);

  using Arguments = llvm::ArrayRef<llvm::Value*>;
#define MXC_DEVICE_NUMBER(method, intrinsic, field) llvm::Value* method();
#define MXC_DEVICE_CALL(method, field, constraints, ptx) \
  llvm::Value* method(Arguments arguments = {});
#include "codegen/cuda/primitives.def"

 private:
  llvm::Value* InTable(int i);
  llvm::Value* Ask(const DeviceCall& call, Arguments arguments);
  std::vector<llvm::Value*> AskForSums(const DeviceCall& call,
                                       Arguments arguments);
  void Annotate(const char* key, int value);

  std::vector<llvm::Value*> global_;  // the operands, in global memory
  llvm::Value* block_ = nullptr;      // inside: its number
};

using DevicePlan = PlanFor<DeviceFunction>;

}  // namespace mxc
