// SPDX-License-Identifier: Apache-2.0
// What steps begin with that change some of what another one does: a TrainStep
// that leaves all to it.
#pragma once

#include <string>
#include <vector>

#include "runtime/train/train_step.h"

namespace mxc::train {

class DelegatingStep : public TrainStep {
 public:
  // `inner` must outlive this.
  explicit DelegatingStep(TrainStep& inner) : inner_(inner) {}

  const TrainFacts& facts() const override { return inner_.facts(); }
  StatusOr<std::string> symbol() const override { return inner_.symbol(); }
  std::vector<NetworkNode> network() const override { return inner_.network(); }
  StatusOr<data::Provides> needs(int64_t length) const override {
    return inner_.needs(length);
  }
  StatusOr<float> Accumulate(const data::Batch& batch,
                             int64_t length) override {
    return inner_.Accumulate(batch, length);
  }
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override {
    return inner_.Train(batch, length, learning_rate);
  }
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override {
    return inner_.Score(batch, length);
  }
  std::vector<FloatView> outputs() const override { return inner_.outputs(); }
  std::vector<float> gradient_norms() const override {
    return inner_.gradient_norms();
  }
  const std::vector<data::Field>& states() const override {
    return inner_.states();
  }
  std::span<std::byte> State(size_t index) override {
    return inner_.State(index);
  }
  void Filled(size_t index) override { inner_.Filled(index); }
  void FilledOwn(size_t index) override { inner_.FilledOwn(index); }
  std::vector<std::pair<uint64_t, uint64_t>> Own(size_t index) override {
    return inner_.Own(index);
  }
  StatusOr<PieceIndex> SavePieces(const CheckpointName& name,
                                  runtime::FileWriter::Sync sync) override {
    return inner_.SavePieces(name, sync);
  }
  StatusOr<Position> Begin(const Position& own,
                           const EpochLength& length) override {
    return inner_.Begin(own, length);
  }
  Status EndEpoch() override { return inner_.EndEpoch(); }
  Status CollectStates() override { return inner_.CollectStates(); }
  const std::vector<runtime::NamedArray>& collected() const override {
    return inner_.collected();
  }
  StatusOr<bool> EndsHere(bool own) override { return inner_.EndsHere(own); }
  Status LendStates() override { return inner_.LendStates(); }
  bool Saves(size_t index) const override { return inner_.Saves(index); }
  bool Requires(size_t index) const override { return inner_.Requires(index); }
  bool Shares(size_t index) const override { return inner_.Shares(index); }
  bool TakesEarlier() const override { return inner_.TakesEarlier(); }
  StatusOr<std::string> ExplainLoss() override { return inner_.ExplainLoss(); }

 protected:
  TrainStep& inner() const { return inner_; }

 private:
  TrainStep& inner_;
};

}  // namespace mxc::train
