// SPDX-License-Identifier: Apache-2.0
// The artifacts of a pipeline's stages, and what they say together: which
// batches the network wants, which of each is whose, who keeps which state.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/step/artifact_facts.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

class StageSet {
 public:
  // In the order of stages; a single one of a network that is not cut. Refuses
  // those that are not all of one network, cut alike.
  static runtime::StatusOr<StageSet> Of(Models models);

  size_t size() const { return models_.size(); }
  const Models& models() const { return models_; }
  // Equal for networks that are cut alike: "2 3f…".
  const std::string& cut() const { return cut_; }

  // What all say together, as the process has it that runs `stage`.
  TrainFacts FactsFor(size_t stage) const;
  // Of a batch of the whole network, whatever its sequences' length.
  const data::Provides& needs() const { return needs_; }
  // What the stage reads of a batch of the network.
  data::Batch PartOf(const data::Batch& batch, size_t stage) const;
  // The most bytes that a run of the stage receives.
  uint64_t ReceivedBytes(size_t stage) const;

  // Who has a state: its row in the tables of a stage.
  struct Holder {
    size_t stage = 0, row = 0;
  };
  // Of all stages, each once, in their order.
  struct State {
    data::Field field;
    std::vector<Holder> holders;  // the first one speaks for all
  };
  const std::vector<State>& states() const { return states_; }

 private:
  // Which arrays of a batch the inputs of a stage are.
  struct Reads {
    std::vector<size_t> data, labels;
  };

  explicit StageSet(Models models) : models_(std::move(models)) {}

  runtime::Status CheckCut();
  void ListInputs();
  void ListStates();

  Models models_;
  std::string cut_;
  data::Provides needs_;
  std::vector<Reads> reads_;  // by stage
  std::vector<State> states_;
};

}  // namespace mxc::train
