// SPDX-License-Identifier: Apache-2.0
// A kernel of a device, compiled for this machine, and run thread by thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/cuda/emulated_thread.h"
#include "codegen/llvm/session.h"
#include "ir/target/target.h"
#include "runtime/base/nameless_file.h"

namespace mxc::test {

// What kernels of "cuda:emulated" are compiled for.
Target EmulatedTarget();

class EmulatedKernel {
 public:
  EmulatedKernel(const Target& target, int operands,
                 std::function<void(KernelFunction&)> emit);
  ~EmulatedKernel();
  EmulatedKernel(const EmulatedKernel&) = delete;

  // Blocks of `threads` until there is a thread for each task; from the last
  // to the first if `backwards`. Returns how many accesses were not aligned as
  // the kernel says, at which a device would stop.
  int64_t Run(const std::vector<void*>& operands, int64_t tasks,
              uint32_t threads, bool backwards) const;

 private:
  runtime::NamelessFile file_;  // whose number names the library
  void* library_ = nullptr;
  const mxc_emulated_kernel* kernel_ = nullptr;
};

}  // namespace mxc::test
