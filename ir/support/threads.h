// SPDX-License-Identifier: Apache-2.0
// Spreads the compiler's own work over the host's processors.
#pragma once

#include <cstdint>
#include <functional>

namespace mxc {

// `work` on as many threads as there can be, this one among them. What is
// thrown on one of them (a lack of memory) is thrown here.
void RunOnThreads(int threads, const std::function<void()>& work);

// Calls work(begin, end) for parts of 0 … count, each index once, on all
// processors where `cost` operations for each index are worth it. The parts
// differ with the number of processors: what is computed must not.
void ForParts(int64_t count, double cost,
              const std::function<void(int64_t, int64_t)>& work);

}  // namespace mxc
