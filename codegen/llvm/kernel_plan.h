// SPDX-License-Identifier: Apache-2.0
// What a backend says of a step's kernel, and what it is told of the kernels
// that this one calls.
//
// The code of a kernel is written into a function of a type that the back end
// chooses: KernelFunction, or one that derives from it and can ask more of its
// machine. A plan names that type, so that a kernel cannot be written into a
// function that lacks what the kernel asks for. Outside of the back end nobody
// needs the type, and the plan that leaves it makes the function itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/kernel_function.h"
#include "ir/program/program.h"
#include "runtime/abi/abi.h"

namespace mxc {

// How a step's work is dealt.
struct KernelFacts {
  int64_t tasks = 1;          // a fixed grid, whatever the number of threads
  int64_t scratch_bytes = 0;  // for each thread
  mxc_launch launch = {};     // on a device
  bool even = false;          // MXC_KERNEL_EVEN
  // What a library may compute in the kernel's place (runtime/abi/
  // matrix_product.h); empty: nothing that has a name.
  std::string computes = {};
  // All tasks take so long on one core or on the device, where the plan knows
  // better than FLOPs and bytes do: for KernelCatalog::KernelSeconds.
  double nanoseconds = 0;
};

template <typename Function>
struct PlanFor : KernelFacts {
  // Writes the body. Operands are numbered as in the step: inputs, then outputs.
  // Everything it needs is captured by value: it runs on another thread.
  std::function<void(Function&)> emit;
};

// The plan of a kernel that asks a machine for nothing of its own.
using FunctionPlan = PlanFor<KernelFunction>;

// Adds a function of this name with the kernel's code to a module, which is the
// machine's. Runs on any thread, at the same time as others.
using WriteKernel = std::function<void(llvm::Module&, const std::string& name,
                                       llvm::TargetMachine&)>;

template <typename Function>
WriteKernel WriterOf(std::function<void(Function&)> emit, int operands,
                     const Target& target) {
  return [emit = std::move(emit), operands, target](
             llvm::Module& module, const std::string& name,
             llvm::TargetMachine& machine) {
    Function kernel(module, name, operands, target, machine);
    emit(kernel);
    kernel.Finish();
  };
}

// The plan as it leaves a back end.
struct KernelPlan : KernelFacts {
  KernelPlan() = default;
  template <typename Function>
  KernelPlan(PlanFor<Function> plan, const Step& step, const Target& target)
      : KernelFacts(plan),
        write(WriterOf(std::move(plan.emit),
                       static_cast<int>(step.operands().size()), target)) {}

  WriteKernel write;
};

// The kernel of one step of a program that another step holds, a symbol of the
// same artifact. With no tasks, the step has nothing to do.
struct InnerCall {
  std::string kernel;
  int64_t tasks = 0, scratch_bytes = 0;
};

// The kernels of a program inside of a step, one for each of its steps.
using InnerCalls = std::function<std::vector<InnerCall>(const Program& inside)>;

}  // namespace mxc
