// SPDX-License-Identifier: Apache-2.0
// Which steps are worth several threads, and in which portions their tasks are
// dealt. Nothing here changes what a run computes: the grid of tasks is fixed,
// and a task gives the same bytes wherever it runs.
#pragma once

#include <cstdint>

#include "runtime/abi/abi.h"

namespace mxc::runtime {

// A step that is dealt to several threads. Chunk c of n holds the tasks
// [tasks · c / n, tasks · (c + 1) / n); thread t of p begins with the chunks
// [n · t / p, n · (t + 1) / p), so that a thread finds in its cache what it
// wrote in the step before.
struct Phase {
  uint32_t step = 0;
  uint32_t chunks = 1;
  uint32_t participants = 1;  // 1: the step is not worth dealing

  uint32_t FirstChunk(uint32_t thread) const {
    return static_cast<uint32_t>(uint64_t{chunks} * thread / participants);
  }
};

// Of an entry; steps beyond so many run on one thread.
inline constexpr uint32_t kMostPhases = 0xffff;
// Stands for the end of a run.
inline constexpr uint32_t kNoPhase = kMostPhases;

// `row`: of the step within its entry.
Phase Deal(const mxc_step& step, uint32_t row, int threads);

}  // namespace mxc::runtime
