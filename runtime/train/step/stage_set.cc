// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/stage_set.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "runtime/artifact/manifest.h"

namespace mxc::train {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;
using runtime::Tables;

// The manifest's line "stage".
struct StageLine {
  size_t stage = 0, stages = 1;
  std::string cut;
};

StageLine LineOf(const runtime::Model& model) {
  StageLine line;
  const auto values = runtime::ManifestValues(model.manifest(), "stage");
  if (values.empty()) return line;
  std::istringstream words(values.front());
  words >> line.stage >> line.stages >> line.cut;
  return line;
}

// By their index; of any entry that trains, or scores.
using Inputs = std::map<uint32_t, data::Field>;

Inputs InputsOf(const Tables& tables, mxc_tensor_role role) {
  Inputs inputs;
  for (const mxc_entry& entry : tables.entries()) {
    const auto buffers = tables.Buffers(entry);
    for (const uint32_t input : tables.Inputs(entry)) {
      const mxc_buffer& buffer = buffers[input];
      if (buffer.role != role) continue;
      inputs.try_emplace(
          buffer.index,
          data::Field{
              tables.Text(buffer.name),
              static_cast<runtime::ElementType>(buffer.dtype),
              std::vector<int64_t>(buffer.dims, buffer.dims + buffer.rank)});
    }
  }
  return inputs;
}

// Where the inputs of a stage are among those of all.
std::vector<size_t> PlacesIn(const Inputs& all, const Inputs& own) {
  std::vector<size_t> places;
  for (const auto& [index, field] : own) {
    places.push_back(
        static_cast<size_t>(std::distance(all.begin(), all.find(index))));
  }
  return places;
}

std::vector<runtime::NamedArray> Pick(
    const std::vector<runtime::NamedArray>& arrays,
    const std::vector<size_t>& places) {
  std::vector<runtime::NamedArray> picked;
  for (const size_t place : places) {
    if (place < arrays.size()) picked.push_back(arrays[place]);
  }
  return picked;
}

}  // namespace

StatusOr<StageSet> StageSet::Of(Models models) {
  StageSet set(std::move(models));
  MXC_RT_RETURN_IF_ERROR(set.CheckCut());
  set.ListInputs();
  set.ListStates();
  return set;
}

Status StageSet::CheckCut() {
  const StageLine first = LineOf(*models_.front());
  cut_ = std::to_string(models_.size()) + " " + first.cut;
  for (size_t stage = 0; stage < models_.size(); ++stage) {
    const StageLine line = LineOf(*models_[stage]);
    if (line.stages != models_.size()) {
      return Fail(StatusCode::kInvalidArgument,
                  "it is stage %zu of a network in %zu stages, and %zu of them "
                  "%s given",
                  line.stage, line.stages, models_.size(),
                  models_.size() == 1 ? "is" : "are");
    }
    for (const mxc_entry& entry : models_[stage]->tables().entries()) {
      if (line.stages == 1 || models_[stage]->tables().Carries(entry).empty()) {
        continue;
      }
      return Fail(StatusCode::kUnsupported,
                  "a network that carries a state from batch to batch trains "
                  "as a whole, not in stages");
    }
    if (line.stage != stage || line.cut != first.cut) {
      return Fail(StatusCode::kInvalidArgument,
                  "the stages are not all of one network, in their order: "
                  "expected stage %zu of '%s', found stage %zu of '%s'",
                  stage, first.cut.c_str(), line.stage, line.cut.c_str());
    }
  }
  return {};
}

void StageSet::ListInputs() {
  Inputs data, labels;
  std::vector<std::pair<Inputs, Inputs>> own;
  for (const auto& model : models_) {
    own.emplace_back(InputsOf(model->tables(), MXC_TENSOR_DATA),
                     InputsOf(model->tables(), MXC_TENSOR_LABEL));
    data.insert(own.back().first.begin(), own.back().first.end());
    labels.insert(own.back().second.begin(), own.back().second.end());
  }
  for (const auto& [index, field] : data) needs_.data.push_back(field);
  for (const auto& [index, field] : labels) needs_.labels.push_back(field);
  for (const auto& [own_data, own_labels] : own) {
    reads_.push_back({PlacesIn(data, own_data), PlacesIn(labels, own_labels)});
  }
}

void StageSet::ListStates() {
  std::map<std::string, size_t> places;
  for (size_t stage = 0; stage < models_.size(); ++stage) {
    const Tables& tables = models_[stage]->tables();
    for (size_t row = 0; row < tables.states().size(); ++row) {
      const mxc_state& state = tables.states()[row];
      const std::string name = tables.Text(state.name);
      const auto [place, added] = places.try_emplace(name, states_.size());
      if (added) {
        states_.push_back(
            {{name, static_cast<runtime::ElementType>(state.dtype),
              std::vector<int64_t>(state.dims, state.dims + state.rank)},
             {}});
      }
      states_[place->second].holders.push_back({stage, row});
    }
  }
}

TrainFacts StageSet::FactsFor(size_t stage) const {
  TrainFacts facts = TrainFactsOf(models_);
  for (const State& state : states_) {
    const bool here = std::ranges::any_of(
        state.holders,
        [&](const Holder& holder) { return holder.stage == stage; });
    if (!here) facts.elsewhere.insert(state.field.name);
  }
  return facts;
}

data::Batch StageSet::PartOf(const data::Batch& batch, size_t stage) const {
  data::Batch part = batch;
  part.data = Pick(batch.data, reads_[stage].data);
  part.labels = Pick(batch.labels, reads_[stage].labels);
  return part;
}

uint64_t StageSet::ReceivedBytes(size_t stage) const {
  const Tables& tables = models_[stage]->tables();
  uint64_t most = 0;
  for (const mxc_entry& entry : tables.entries()) {
    const auto buffers = tables.Buffers(entry);
    uint64_t bytes = 0;
    for (const mxc_step& step : tables.Steps(entry)) {
      if (step.kind != MXC_STEP_COLLECTIVE) continue;
      if (std::string(tables.Text(step.kernel_name)) != "receive") continue;
      const auto operands = tables.Operands(step);
      bytes += buffers[operands[step.input_count]].bytes;
    }
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace mxc::train
