// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace mxc {

// How far long work has come, for whoever shows it meanwhile on a thread of its
// own.
struct WorkCount {
  std::atomic<int64_t> done{0}, total{0};
  bool bytes = false;  // are counted
};

}  // namespace mxc
