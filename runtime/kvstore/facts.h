// SPDX-License-Identifier: Apache-2.0
// How a server's job is doing, for who watches it.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kvstore/pair.h"
#include "runtime/kvstore/transport/transport.h"

namespace mxc::kvstore {

enum class WorkerState {
  kAwaited,  // it has not come yet
  kThere,    // it is connected
  kLost,     // it is not, and is waited for
  kGivenUp,  // nobody waits for it
  kFinished,
};

struct WorkerFacts {
  WorkerState state = WorkerState::kAwaited;
  uint64_t rounds = 0;  // that its pushes have reached for all keys
  Time silence = 0;     // since it was heard
};

struct ServerFacts {
  PairRole role = PairRole::kNone;
  uint64_t term = 0;                 // of the pair
  bool paired = false;               // primary and backup have the same records
  uint64_t rounds = 0;               // updates that all keys have had
  uint64_t received = 0, sent = 0;   // bytes of gradients and values
  std::vector<WorkerFacts> workers;  // by rank
};

}  // namespace mxc::kvstore
