// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one process that runs all stages of a pipeline, a thread for
// each: what a job of as many workers learns, with the same bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/host_group.h"
#include "runtime/train/step/artifact_step.h"
#include "runtime/train/step/stage_set.h"

namespace mxc::train {

class StagedStep final : public TrainStep {
 public:
  // `threads` are shared by the stages, each of which has one at least; 0: one
  // for each processor.
  static runtime::StatusOr<std::unique_ptr<StagedStep>> Bound(
      StageSet stages, const std::string& path, int threads);

  const TrainFacts& facts() const override { return facts_; }
  runtime::StatusOr<std::string> symbol() const override {
    return parts_[0]->symbol();
  }
  std::vector<NetworkNode> network() const override {
    return parts_[0]->network();
  }
  runtime::StatusOr<data::Provides> needs(int64_t) const override {
    return stages_.needs();
  }
  runtime::StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) override;
  runtime::StatusOr<float> Score(const data::Batch& batch,
                                 int64_t length) override;
  // All stages have the same.
  std::vector<FloatView> outputs() const override {
    return parts_[0]->outputs();
  }
  std::vector<float> gradient_norms() const override {
    return parts_[0]->gradient_norms();
  }
  const std::vector<data::Field>& states() const override { return states_; }
  std::span<std::byte> State(size_t index) override;
  // Nobody can tell: no stage runs again without the others.
  runtime::StatusOr<std::string> ExplainLoss() override {
    return std::string();
  }

 private:
  using Run = std::function<runtime::StatusOr<float>(ArtifactStep& part,
                                                     const data::Batch& batch)>;

  explicit StagedStep(StageSet stages);

  void SpreadStates();
  // What `run` says on each stage, on a thread for each; the first failure.
  runtime::StatusOr<float> RunAll(const data::Batch& batch, const Run& run);

  const StageSet stages_;
  TrainFacts facts_;
  std::vector<data::Field> states_;
  std::vector<bool> given_;  // states that somebody may have written
  runtime::HostGroup group_;
  std::vector<std::unique_ptr<ArtifactStep>> parts_;
};

}  // namespace mxc::train
