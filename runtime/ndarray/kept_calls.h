// SPDX-License-Identifier: Apache-2.0
// What operators made for operands of some types, in bounded number: what was
// used longest ago is forgotten, and made again when it is asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace mxc::runtime {

// Of all operators of a process. Any thread.
class KeptCalls {
 public:
  // What is kept is derived of this.
  class Kept {
   private:
    friend class KeptCalls;
    std::atomic<uint64_t> used_{0};
  };

  explicit KeptCalls(size_t most) : most_(most) {}
  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;

  // Keeps it until so many others were used later. Whoever shares it has it
  // longer than that.
  void Keep(std::shared_ptr<Kept> made);
  // Somebody uses what is, or was, kept.
  void Use(Kept& made) const;

 private:
  const size_t most_;
  // Counts what was made: only then is it asked what was used longest ago.
  std::atomic<uint64_t> now_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Kept>> kept_;
};

}  // namespace mxc::runtime
