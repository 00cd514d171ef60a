// SPDX-License-Identifier: Apache-2.0
// Another processor, as a process under an emulator that runs its kernels over
// memory which it shares with this one (tests/cross/runner.c, runner.mjs):
//
//   MXC_TEST_TARGET=aarch64                     compiles kernels for this target
//   MXC_TEST_RUNNER='qemu-aarch64 … runner'     and runs them so
//
// tests/cross/kernels sets both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/conversation.h"

namespace mxc::test {

class OtherProcessor {
 public:
  // Null: tests run kernels on this one.
  static OtherProcessor* Get();

  OtherProcessor(const OtherProcessor&) = delete;

  // Memory at the same address on both sides, whole pages, that each may read and
  // write again once it is freed.
  std::byte* Allocate(size_t bytes);
  void Free(std::byte* memory, size_t bytes);
  // As mprotect, on both sides.
  void Protect(std::byte* address, size_t bytes, int allowed);

  // The number of the kernel of a shared object, which may go away then.
  int Load(const std::string& library);
  // From task `begin` on, |step| of them in a call, until `end` is reached.
  struct Tasks {
    int64_t begin, end, step;
  };
  // Operands, and scratch, of its memory.
  void Run(int kernel, const std::vector<void*>& operands, const Tasks& tasks,
           void* scratch);

 private:
  OtherProcessor(const std::string& runner, const std::string& path, int file);
  static OtherProcessor* Start(const std::string& runner);
  int Ask(const std::string& command);
  void CheckShared(const void* address) const;

  std::byte* memory_;
  size_t used_ = 0, in_use_ = 0;
  Conversation runner_;
};

}  // namespace mxc::test
