// SPDX-License-Identifier: Apache-2.0
// How the workers of a job exchange what they learn.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/kvstore/averaging.h"
#include "runtime/kvstore/settings.h"

namespace mxc::job {

// When gradients leave, and which comes first.
enum class Leaving {
  kUrgent,     // when they are final; first those that are needed first
  kInOrder,    // when they are final, in that order
  kAfterStep,  // when the step is over, and the next one waits for all
};

struct JobOptions {
  std::string kvstore = "dist_sync", compression = "none";
  uint64_t cut_from = kvstore::Settings().cut_from;
  uint64_t slice = 1 << 16;
  std::string exchange = "urgent";  // as `leaving` says
  uint32_t staleness = 3;           // of dist_ssp
  kvstore::Averaging averaging;     // of allreduce_ea and block_momentum
  int64_t accumulate = 1;           // batches of a worker that make an update
  bool shards_states = false;       // of allreduce: as ShardedStep does
  bool shards_parameters = false;   // and parameters, too: then both are set
  bool pipeline = false;            // workers are the stages of a network

  Leaving leaving() const;
  // Returns whether workers train by themselves and average their parameters.
  bool averages() const { return kvstore::ParseRule(kvstore).has_value(); }
  // Returns whether workers exchange all by themselves.
  bool meshes() const { return reduces() || pipeline; }
  // Returns whether workers sum gradients among themselves, and each makes the
  // updates.
  bool reduces() const { return kvstore == "allreduce"; }
};

// What is wrong with a name for `kvstore`; empty: nothing.
std::string CheckKvstore(const std::string& name);

}  // namespace mxc::job
