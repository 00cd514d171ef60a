// SPDX-License-Identifier: Apache-2.0
// A TrainStep that is an artifact: its entries of the kinds TRAIN (or GRAD, where
// somebody else updates the parameters) and SCORE, one of each for every length,
// all in the states and the arena of one executor.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// What a step of training does: all of it, or no more than the gradients. To score
// an entry for inference will do where there is none for scoring.
enum class Extent { kWhole, kGradients, kScoring };

// The root of the sum of squares.
double NormOf(std::span<const float> values);

// Returns whether the host runs what the model was compiled for.
bool RunsOnHost(const runtime::Model& model);

class ArtifactStep : public TrainStep {
 public:
  // `threads`: 0 for one for each processor. `device`: as in mxc_bind_options,
  // or empty. An artifact without `train` can score, one without `score` can
  // train.
  static runtime::StatusOr<std::unique_ptr<ArtifactStep>> Open(
      const std::string& path, int threads,
      const runtime::OpenOptions& options = {}, Extent extent = Extent::kWhole,
      const std::string& device = "");

  struct BindOptions {
    std::string path = {};  // the artifact's, for messages; it may have none
    std::string device = {};
    int threads = 1;  // 0: one for each processor
    Extent extent = Extent::kWhole;
    // Whose states and arena to use, of the same model and device, which must
    // outlive the step; null: its own.
    const runtime::Executor* share = nullptr;
    // In place of what the model says alone (StageSet); without names of labels.
    std::optional<TrainFacts> facts = {};
    // Told of each of the model's states, by its row, on the host, once it has a
    // value of the model's, of a file or of an initializer, and before the next
    // one has: of who keeps a part of them alone, for whom there need not be
    // memory for all. Without a value: that part alone was given.
    std::function<void(size_t state, std::span<std::byte> value)> filled = {};
  };
  static runtime::StatusOr<std::unique_ptr<ArtifactStep>> Bound(
      std::shared_ptr<const runtime::Model> model, const BindOptions& options);

  const std::shared_ptr<const runtime::Model>& model() const { return model_; }
  // Returns whether training carries values from batch to batch.
  bool Carries() const {
    return states_.size() > model_->tables().states().size();
  }
  // Before the first run, and when no other follows (Executor::Join).
  runtime::Status Join(std::shared_ptr<runtime::DeviceGroup> group,
                       size_t number) {
    return first_->Join(std::move(group), number);
  }
  // The same on the host, of all entries (Executor::Join).
  void Join(runtime::HostMember* member);
  // All that train.
  std::vector<runtime::Executor*> trainers() const;
  std::vector<runtime::Executor*> scorers() const;
  // The one of the last training step, or of the one that is running.
  runtime::Executor& trainer() const { return *last_->executor; }
  // What updates that others make multiply a gradient by, and that where the
  // optimizer was told.
  double Rescale() const;
  std::optional<double> GivenRescale() const;

  const TrainFacts& facts() const override { return facts_; }
  runtime::StatusOr<std::string> symbol() const override;
  std::vector<NetworkNode> network() const override;
  runtime::StatusOr<data::Provides> needs(int64_t length) const override;
  runtime::StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) override;
  runtime::StatusOr<float> Score(const data::Batch& batch,
                                 int64_t length) override;
  std::vector<FloatView> outputs() const override;
  std::vector<float> gradient_norms() const override;
  const std::vector<data::Field>& states() const override { return states_; }
  std::span<std::byte> State(size_t index) override;
  void Filled(size_t index) override;
  void FilledOwn(size_t index) override;
  runtime::Status LendStates() override;
  runtime::StatusOr<std::string> ExplainLoss() override;

 private:
  // An output that becomes an input where a batch goes on where the one before
  // ended: the hidden state of a recurrent network.
  struct Carry {
    size_t input, output;
  };
  // An entry that is bound; indices of its inputs and outputs.
  struct Entry {
    std::unique_ptr<runtime::Executor> executor;
    std::vector<size_t> data, labels;
    std::vector<Carry> carries;
    int learning_rate = -1, loss = -1;  // -1: there is none
  };
  using Entries = std::map<int64_t, Entry>;  // by length; 0: of any
  // What the host has of a state on a device.
  struct Twin {
    std::vector<std::byte> values;
    bool current = false;  // they are the device's
    bool given = false;    // somebody may have written to them
  };

  ArtifactStep(std::shared_ptr<const runtime::Model> model,
               const BindOptions& options);

  runtime::Status Bind(const BindOptions& options);
  runtime::Status BindEntry(size_t row, const BindOptions& options);
  // The index of the largest entry for inference, in place of one for scoring.
  std::optional<size_t> EntryForInference() const;
  runtime::Status ReadLabelNames();
  void ListStates();
  void WriteGivenStates();
  runtime::Status Connect(Entry& entry) const;
  // `length` 0: the longest.
  runtime::StatusOr<Entry*> Find(Entries& entries, const char* name,
                                 int64_t length) const;
  runtime::StatusOr<float> Run(Entry& entry, const data::Batch& batch);
  runtime::Status Feed(Entry& entry, const std::vector<size_t>& inputs,
                       const std::vector<runtime::NamedArray>& arrays,
                       const char* what) const;
  void ClearCarries(Entry& entry) const;
  void KeepCarries(Entry& entry) const;
  // Those of the last run, where they lie or in converted_.
  std::span<const float> OutputAsFloats(size_t output,
                                        runtime::ElementType type,
                                        uint64_t bytes) const;
  std::string Name(const mxc_buffer& buffer) const;
  data::Field FieldOf(const Entry& entry, size_t input) const;

  const std::shared_ptr<const runtime::Model> model_;
  const Extent extent_;
  const std::function<void(size_t, std::span<std::byte>)> filled_;
  TrainFacts facts_;
  std::vector<data::Field> states_;
  std::vector<std::span<std::byte>> memory_;  // of each state, on the host
  std::vector<Twin> twins_;  // of the tables' states; none on the host
  Entries train_, score_;
  runtime::Executor* first_ = nullptr;  // in whose memory the others run
  Entry* last_ = nullptr;               // whose outputs are asked for
  // Outputs that are no f32, by index: what outputs() hands out.
  mutable std::map<size_t, std::vector<float>> converted_;
};

}  // namespace mxc::train
