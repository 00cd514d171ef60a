// SPDX-License-Identifier: Apache-2.0
// A block of threads of an emulated kernel (codegen/cuda/emulated_thread.h).
// Those of kernels that wait for one another are fibers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codegen/cuda/emulated_thread.h"
#include "tests/cuda/driver/shared_writes.h"

namespace mxc::runtime {

class EmulatedBlock {
 public:
  using Access = void (*)(mxc_emulated_thread*, const void* address,
                          uint32_t bytes, uint32_t alignment);

  // `access` is told of each access to memory that is not shared, with a thread
  // whose `user` Of() returns.
  EmulatedBlock(Access access, void* user);
  ~EmulatedBlock();

  // Runs all threads of block `number`. Returns what is wrong: threads that
  // miss a barrier, lanes that meet at different places, accesses outside of
  // shared memory. That is filled with a pattern before.
  struct Launch {
    const mxc_emulated_kernel* kernel = nullptr;
    void* const* arguments = nullptr;
    uint32_t threads = 0, shared_bytes = 0;
    // Above 0: warps and their lanes run in another order.
    uint64_t seed = 0;
    // Above 0: threads do not wait at the barrier that they come to as their
    // n-th. For tests: somebody has to notice.
    uint32_t without_barrier = 0;
  };
  std::string Run(const Launch& launch, uint32_t number);

  static void* UserOf(mxc_emulated_thread* thread);

 private:
  class Lane;

  bool RunWarp(uint32_t first, uint32_t end);
  bool Meet(uint32_t first, uint32_t end);
  void Order(std::vector<uint32_t>& order, uint32_t begin, uint32_t end);
  std::string RunTogether(const Launch& launch, uint32_t number);
  std::string RunEachAlone(const Launch& launch, uint32_t number);

  const Access access_;
  void* const user_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::byte* stacks_ = nullptr;
  std::vector<uint32_t> warps_, lane_order_;
  // As aligned as kernels ask for.
  struct alignas(1024) SharedBytes {
    char bytes[1024];
  };
  char* shared() { return shared_.front().bytes; }
  const char* shared() const { return shared_.front().bytes; }

  std::vector<SharedBytes> shared_;
  SharedWrites written_;
  std::minstd_rand random_;
  bool shuffles_ = false;
  std::string error_;
};

}  // namespace mxc::runtime
