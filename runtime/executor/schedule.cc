// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/schedule.h"

#include <algorithm>

namespace mxc::runtime {
namespace {

// Handing a step to another thread and back costs about 0.3 us, and lines go
// from cache to cache, to the other thread and, in the next step, back again:
// 10 us for 18 KiB were seen between distant cores.
constexpr double kWorthAThread = 3000;  // ns
constexpr double kWorthAChunk = 1000;   // ns
// Portions for each thread, so that one that loses its core to another program
// keeps only its current portion waiting.
constexpr double kChunksPerThread = 4;
// Steps of many milliseconds have more: the others wait for the last portion.
constexpr double kLongestChunk = 2e6, kMostChunks = 1024;

}  // namespace

Phase Deal(const mxc_step& step, uint32_t row, int threads) {
  const auto time = static_cast<double>(step.nanoseconds);
  const double tasks = static_cast<double>(step.tasks);
  Phase phase;
  phase.step = row;
  phase.participants = static_cast<uint32_t>(
      std::clamp(std::min(time / kWorthAThread, tasks), 1.0, double(threads)));
  const double wanted = std::max(phase.participants * kChunksPerThread,
                                 std::min(time / kLongestChunk, kMostChunks));
  const double chunks = std::min({wanted, time / kWorthAChunk, tasks});
  phase.chunks = std::max(phase.participants, static_cast<uint32_t>(chunks));
  return phase;
}

}  // namespace mxc::runtime
