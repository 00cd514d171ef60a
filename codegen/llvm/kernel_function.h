// SPDX-License-Identifier: Apache-2.0
// The LLVM function of one kernel while it is being written: its parameters,
// structured loops and branches, and what the target can do. That of a device
// is a codegen/cuda/device_function.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/llvm/llvm.h"
#include "ir/graph/tensor.h"
#include "ir/target/target.h"

namespace mxc {

// What those who write code must know of a machine's instructions, beside what
// LLVM says of them.
struct Instructions {
  // Integers of 64 bits take several of them, one by one, too.
  bool of_words = false;
  // f16 from and to f32; without, LLVM would call a library. bf16 from f32.
  bool convert_halves = false, convert_brains = false;
  // Two vectors of so many f32 become one of bf16; 0: none do.
  int brains_of_two = 0;
  // The greater of two vectors' elements, but the first where either is NaN, is one
  // instruction; NaN there takes eight.
  bool pseudo_extrema = false;
  // AVX-512's: floats to the nearest integers.
  bool rounds_to_integers = false;
};

// Of the processor that the target names for the host.
Instructions HostInstructions(const Target& target);

class KernelFunction {
 public:
  using Builder = llvm::IRBuilder<>;

  // Adds `void name(ptr operands, i64 begin, i64 end, ptr scratch)` to the
  // module (runtime/abi/abi.h, mxc_kernel); the builder stands in its body.
  KernelFunction(llvm::Module& module, const std::string& name, int operands,
                 const Target& target, llvm::TargetMachine& machine);
  // Writes the return. Nothing is emitted afterwards.
  void Finish();

  Builder& b() { return builder_; }
  llvm::Module& module() { return module_; }
  llvm::LLVMContext& context() { return module_.getContext(); }
  llvm::Function* function() { return function_; }
  const Target& target() const { return target_; }
  const Instructions& instructions() const { return instructions_; }

  llvm::Value* operand(int i) const { return operands_[i]; }  // ptr
  // The tasks to compute, and memory for this thread alone.
  llvm::Value* begin() const { return begin_; }      // i64
  llvm::Value* end() const { return end_; }          // i64
  llvm::Value* scratch() const { return scratch_; }  // ptr

  // --- constants and types
  llvm::ConstantInt* Int(int64_t value) { return builder_.getInt64(value); }
  // The type of an element in registers: i1 for kBool, float for f16, bf16.
  llvm::Type* ValueType(DType dtype);
  // The type of an element in memory: i8 for kBool, i16 for f16 and bf16.
  llvm::Type* MemoryType(DType dtype);
  // `type` itself for one lane.
  llvm::Type* VectorOf(llvm::Type* element, int lanes);
  // base + offset elements of the given size in bytes; offset is an i64.
  llvm::Value* ElementAddress(llvm::Value* base, llvm::Value* offset,
                              int64_t element_bytes);

  // --- control flow. Bodies leave the builder where the flow goes on.
  // for (i = from; i < to; i += step) body(i)
  void Loop(llvm::Value* from, llvm::Value* to, int64_t step,
            const std::function<void(llvm::Value* i)>& body);
  // The same with values that each round passes to the next; returns the last.
  using Carried = std::vector<llvm::Value*>;
  Carried Loop(
      llvm::Value* from, llvm::Value* to, int64_t step, Carried initial,
      const std::function<Carried(llvm::Value* i, const Carried&)>& body);
  // for (i = from; i < to; ++i) body(i, leave), where leave() ends the loop;
  // what a branch emits behind it is not reached.
  using Leave = std::function<void()>;
  void Loop(llvm::Value* from, llvm::Value* to,
            const std::function<void(llvm::Value* i, const Leave&)>& body);
  void If(llvm::Value* condition, const std::function<void()>& then,
          const std::function<void()>& otherwise = nullptr);
  // The value of the side that is taken; both have the same type.
  llvm::Value* Choose(llvm::Value* condition,
                      const std::function<llvm::Value*()>& then,
                      const std::function<llvm::Value*()>& otherwise);

  // Returns whether loads and stores of <lanes x type> under a mask, and
  // gathers, are instructions of the target rather than a branch for each lane.
  bool HasMaskedAccess(llvm::Type* element, int lanes) const;
  bool HasGather(llvm::Type* element, int lanes) const;

 protected:
  // A function of another form, whose body begins here. It sets the operands,
  // the tasks and the scratch.
  KernelFunction(llvm::Function& function, const Target& target,
                 const Instructions& instructions,
                 const llvm::TargetMachine& machine);

  std::vector<llvm::Value*> operands_;
  llvm::Value *begin_ = nullptr, *end_ = nullptr, *scratch_ = nullptr;

 private:
  llvm::Module& module_;
  const Target& target_;
  const Instructions instructions_;
  llvm::TargetTransformInfo tti_;
  llvm::Function* function_;
  Builder builder_;
};

}  // namespace mxc
