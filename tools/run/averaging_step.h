// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several that train by themselves and average
// their parameters every few steps (runtime/kvstore/averaging.h).
#pragma once

#include <vector>

#include "runtime/kvstore/averaging.h"
#include "tools/run/job_step.h"

namespace mxc::run {

class AveragingStep final : public JobStep {
 public:
  // `step` is one of whole steps.
  AveragingStep(ArtifactStep& step, const ArtifactKeys& keys,
                kvstore::Worker& worker, uint32_t rank,
                const kvstore::Averaging& averaging);

  runtime::StatusOr<train::Position> Begin(const train::Position& own) override;
  runtime::StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) override;
  // What is scored, seen and saved is what all workers have in common.
  runtime::StatusOr<float> Score(const data::Batch& batch,
                                 int64_t length) override;
  std::span<std::byte> State(size_t index) override {
    return step_.State(index);
  }
  runtime::Status CollectStates() override { return Show(true); }

 private:
  runtime::Status Meet();
  runtime::Status Show(bool common);
  std::span<float> Own(uint32_t key);

  const kvstore::Averaging averaging_;
  bool shows_common_ = false;  // then common_ holds the worker's own
  uint32_t steps_ = 0;         // since the last meeting
  std::vector<std::vector<float>> common_, push_;  // by key
};

}  // namespace mxc::run
