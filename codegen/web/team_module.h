// SPDX-License-Identifier: Apache-2.0
// Threads of a page: instances of one module over one shared memory. The first
// walks an entry and deals the tasks of each step; the others, its workers, take
// some of them. What a task computes does not depend on who takes it.
//
//   void mxc_deal(kernel*, operands, int64_t tasks, scratch)
//     EntryForm::dealer: returns when all tasks are done.
//   void mxc_begin(int32_t workers)   exported: so many take part from now on
//   void mxc_work(int32_t worker)     exported: worker 0, 1, … ; never returns
//
// A worker looks at the phase, which every deal raises, for some microseconds,
// then sleeps. The first never sleeps, for a page's own thread must not: it counts
// who is done. All atomic operations of WebAssembly are sequentially consistent:
// the phase hands over what was stored before it, the count of those who are done
// what they computed.
#pragma once

#include <cstdint>
#include <string>

#include "ir/target/target.h"

namespace mxc {

inline constexpr int kMostWorkers = 7;
// Bytes of a worker's stack: mxc_stacks + 65536 · (worker + 1) is where it begins,
// and grows down from.
inline constexpr int64_t kWorkerStackBytes = 65536;
inline constexpr const char* kDealer = "mxc_deal";
inline constexpr const char* kWorkerStacks = "mxc_stacks";

// One object, with `scratch_bytes` for each worker's kernels.
std::string EmitTeamModule(int64_t scratch_bytes, const Target& target);

}  // namespace mxc
