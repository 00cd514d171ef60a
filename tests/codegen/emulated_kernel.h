// SPDX-License-Identifier: Apache-2.0
// A kernel of a device, compiled for this machine, and run block by block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/cuda/emulated_thread.h"
#include "codegen/llvm/kernel_plan.h"
#include "codegen/llvm/session.h"
#include "ir/program/program.h"
#include "ir/target/target.h"
#include "runtime/abi/abi.h"
#include "runtime/base/nameless_file.h"

namespace mxc::test {

// What kernels of "cuda:emulated" are compiled for.
Target EmulatedTarget();
// How the first step of a program becomes a kernel of it.
KernelPlan EmulatedPlanOf(const Program& program);

class EmulatedKernel {
 public:
  EmulatedKernel(const Target& target, WriteKernel write);
  ~EmulatedKernel();
  EmulatedKernel(const EmulatedKernel&) = delete;

  struct Order {
    bool backwards = false;  // blocks from the last to the first
    uint64_t seed = 0;       // above 0: warps and lanes in another order
    // Above 0: nobody waits at the barrier that comes as n-th in a block.
    uint32_t without_barrier = 0;
  };
  // A grid of blocks. Returns at what a device would have stopped.
  std::string Run(const std::vector<void*>& operands, const mxc_launch& launch,
                  const Order& order) const;

 private:
  runtime::NamelessFile file_;  // whose number names the library
  void* library_ = nullptr;
  const mxc_emulated_kernel* kernel_ = nullptr;
};

}  // namespace mxc::test
