// SPDX-License-Identifier: Apache-2.0
// Reports progress of long work, and cancels it, across threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>

namespace mxc {

// Thrown where work is given up because nobody wants it any more.
struct WorkCancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

// Throws where work asks whether it is still wanted; `is_cancelled` may be empty.
inline void ThrowIfCancelled(const std::function<bool()>& is_cancelled) {
  if (is_cancelled && is_cancelled()) throw WorkCancelled();
}

// How far long work has come, for whoever shows it meanwhile on a thread of its
// own; and whether it is still wanted.
struct WorkCount {
  std::atomic<int64_t> done{0}, total{0};
  bool bytes = false;  // are counted
  // Asked by any thread that works; may be empty.
  std::function<bool()> is_cancelled = {};

  // Some more is done. Throws WorkCancelled.
  void Raise(int64_t by) {
    done += by;
    ThrowIfCancelled(is_cancelled);
  }
};

}  // namespace mxc
