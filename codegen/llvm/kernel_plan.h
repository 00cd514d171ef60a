// SPDX-License-Identifier: Apache-2.0
// What a backend says of a step's kernel, and what it is told of the kernels
// that this one calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/llvm/kernel_function.h"
#include "ir/program/program.h"
#include "runtime/abi/abi.h"

namespace mxc {

// How a step's work is dealt and how its kernel is written.
struct KernelPlan {
  int64_t tasks = 1;          // a fixed grid, whatever the number of threads
  int64_t scratch_bytes = 0;  // for each thread
  mxc_launch launch = {};     // on a device
  bool even = false;          // MXC_KERNEL_EVEN
  // What a library may compute in the kernel's place (runtime/abi/
  // matrix_product.h); empty: nothing that has a name.
  std::string computes = {};
  // Of all tasks on one core, where the plan knows better than FLOPs and bytes
  // do.
  double nanoseconds = 0;
  // Whether that holds whatever the FLOPs are: it is of the units that compute
  // them.
  bool of_units = false;
  // Operands are numbered as in the step: inputs, then outputs. Everything it
  // needs is captured by value: it runs on another thread.
  std::function<void(KernelFunction&)> emit;
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
