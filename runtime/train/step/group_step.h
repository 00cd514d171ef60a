// SPDX-License-Identifier: Apache-2.0
// A TrainStep on several devices of this machine. Each takes its part of a
// batch, the rows in their order, and runs the same entry, which sums gradients
// and the loss over all of them (TrainingOptions::replicas): so all hold the
// same states, but for the seeds that the network draws by.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/train/step/artifact_step.h"

namespace mxc::train {

// "cuda:0,cuda:1", each once.
runtime::StatusOr<std::vector<std::string>> DeviceList(const std::string& text);

// Whether the model was compiled for so many devices that train together.
runtime::Status CheckReplicas(const runtime::Model& model, size_t devices);

class GroupStep final : public TrainStep {
 public:
  // As many devices as the model was compiled for. `path` is for messages.
  static runtime::StatusOr<std::unique_ptr<GroupStep>> Bound(
      const std::shared_ptr<const runtime::Model>& model,
      const std::string& path, const std::vector<std::string>& devices);

  const TrainFacts& facts() const override { return parts_[0]->facts(); }
  runtime::StatusOr<std::string> symbol() const override {
    return parts_[0]->symbol();
  }
  std::vector<NetworkNode> network() const override {
    return parts_[0]->network();
  }
  runtime::StatusOr<data::Provides> needs(int64_t length) const override;
  runtime::StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) override;
  runtime::StatusOr<float> Score(const data::Batch& batch,
                                 int64_t length) override;
  std::vector<FloatView> outputs() const override;
  // All devices have the same gradients.
  std::vector<float> gradient_norms() const override {
    return parts_[0]->gradient_norms();
  }
  const std::vector<data::Field>& states() const override {
    return parts_[0]->states();
  }
  // That of the first device; what is written there becomes all others'.
  std::span<std::byte> State(size_t index) override;
  runtime::StatusOr<std::string> ExplainLoss() override;

 private:
  using Run = std::function<runtime::StatusOr<float>(ArtifactStep& part,
                                                     const data::Batch& batch)>;

  GroupStep() = default;

  runtime::Status Connect(const std::vector<std::string>& devices);
  void SpreadStates();
  // What `run` says on each device, on a thread for each; the first failure.
  runtime::StatusOr<std::vector<float>> RunAll(const data::Batch& batch,
                                               const Run& run);

  std::vector<std::unique_ptr<ArtifactStep>> parts_;
  std::shared_ptr<runtime::DeviceGroup> group_;
  std::vector<bool> given_;  // states that somebody may have written
  mutable std::vector<std::vector<float>> outputs_;
};

}  // namespace mxc::train
