// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several: it computes the gradients of its batch,
// servers update the parameters by those of all workers.
#pragma once

#include <memory>
#include <string>

#include "runtime/kvstore/worker.h"
#include "tools/run/artifact_keys.h"
#include "tools/run/artifact_step.h"

namespace mxc::run {

class DistributedStep final : public train::TrainStep {
 public:
  // All must outlive the step; `step` is one of gradients. The worker of rank 0
  // brings the first values of all keys: those of its states when it is first
  // asked to train or to score.
  DistributedStep(ArtifactStep& step, const ArtifactKeys& keys,
                  kvstore::Worker& worker, uint32_t rank)
      : step_(step), keys_(keys), worker_(worker), rank_(rank) {}

  const train::TrainFacts& facts() const override { return step_.facts(); }
  runtime::StatusOr<std::string> symbol() const override {
    return step_.symbol();
  }
  runtime::StatusOr<data::Provides> needs(int64_t length) const override {
    return step_.needs(length);
  }
  runtime::StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) override;
  runtime::StatusOr<float> Score(const data::Batch& batch,
                                 int64_t length) override;
  std::vector<train::FloatView> outputs() const override {
    return step_.outputs();
  }
  const std::vector<data::Field>& states() const override {
    return step_.states();
  }
  std::span<std::byte> State(size_t index) override {
    return step_.State(index);
  }
  runtime::Status CollectStates() override;
  runtime::StatusOr<std::string> ExplainLoss() override {
    return step_.ExplainLoss();
  }

 private:
  runtime::Status Begin();

  ArtifactStep& step_;
  const ArtifactKeys& keys_;
  kvstore::Worker& worker_;
  const uint32_t rank_;
  bool begun_ = false;
};

}  // namespace mxc::run
