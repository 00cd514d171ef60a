// SPDX-License-Identifier: Apache-2.0
// The parameters of workers that each have a part of them: a run of an artifact
// finds each one whole where its steps use it. What others have of it comes before
// the first of those steps, while the steps before still run, and goes after the
// last one.
//
// All workers run the same entries, and exchange the same in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/executor/executor.h"
#include "runtime/job/own_parts.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/collective/shard_exchange.h"
#include "runtime/train/step/artifact_step.h"

namespace mxc::job {

// Used by one thread at a time.
class GatheredParameters {
 public:
  // All must outlive this.
  GatheredParameters(train::ArtifactStep& step, const OwnParts& own,
                     uint32_t rank, uint32_t workers);

  // Before the first run.
  void Connect(kvstore::ShardExchange& exchange) { exchange_ = &exchange; }

  // Around a run of one of the step's executors, and before each of its steps, by
  // its row in the entry.
  void BeginRun() {
    run_ = nullptr;
    begun_ = needed_ = ended_ = 0;
  }
  Status Before(const runtime::Executor& executor, size_t row);
  Status EndRun();

 private:
  // A parameter, while steps that follow each other use it.
  struct Use {
    uint32_t key = 0;
    uint32_t first = 0, last = 0;  // the steps' rows
  };
  // The uses of an entry, as they begin and as they end.
  struct Plan {
    std::vector<Use> uses;
    std::vector<size_t> by_end;
  };
  // Of a key that is used or will be soon.
  struct Held {
    uint32_t uses = 0;      // that have begun to gather it and have not ended
    uint64_t exchange = 0;  // that it has come with, counted from the first
  };

  Plan PlanOf(const runtime::Executor& executor) const;
  std::span<std::byte> ValueOf(uint32_t key);
  void Gather(const Use& use);
  void Release(const Use& use);

  train::ArtifactStep& step_;
  const OwnParts& own_;
  const uint32_t rank_, workers_;
  kvstore::ShardExchange* exchange_ = nullptr;
  std::map<const runtime::Executor*, Plan> plans_;
  std::map<uint32_t, Held> held_;           // by key
  const runtime::Executor* run_ = nullptr;  // what runs, or ran last
  // Of the run's uses: how many have begun to come, are waited for, have ended.
  size_t begun_ = 0, needed_ = 0, ended_ = 0;
  uint64_t ahead_ = 0;  // bytes that have begun to come and are not needed yet
};

}  // namespace mxc::job
