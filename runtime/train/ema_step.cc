// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/ema_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "runtime/formats/convert.h"
#include "runtime/train/float_sums.h"
#include "runtime/train/floats.h"
#include "runtime/train/state_names.h"

namespace mxc::train {
namespace {

using runtime::ElementType;

// Those of floats among what training learns and the network computes.
std::vector<size_t> AveragedStates(const TrainStep& step) {
  const TrainFacts& facts = step.facts();
  std::set<std::string_view> names(facts.parameters.begin(),
                                   facts.parameters.end());
  names.insert(facts.auxiliaries.begin(), facts.auxiliaries.end());
  std::vector<size_t> found;
  for (size_t i = 0; i < step.states().size(); ++i) {
    const data::Field& state = step.states()[i];
    if (names.contains(state.name) && runtime::IsFloat(state.type)) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace

EmaStep::EmaStep(TrainStep& inner, double decay)
    : DelegatingStep(inner), decay_(decay), states_(inner.states()) {
  states_.push_back(
      {std::string(kAveragedUpdatesName), ElementType::kI64, {1}});
  for (const size_t state : AveragedStates(inner)) {
    const data::Field& field = inner.states()[state];
    const auto bytes = *runtime::ArrayBytes(ElementType::kF32, field.shape);
    states_.push_back({AverageOf(field.name), ElementType::kF32, field.shape});
    averaged_.push_back(
        {state,
         std::vector<float>(static_cast<size_t>(bytes) / sizeof(float)),
         {}});
  }
}

StatusOr<Position> EmaStep::Begin(const Position& own,
                                  const EpochLength& length) {
  const StatusOr<Position> at = inner().Begin(own, length);
  if (at.ok() && updates_ < 0) BeginAverages();
  return at;
}

void EmaStep::BeginAverages() {
  updates_ = 0;
  for (Averaged& one : averaged_) {
    std::ranges::copy(ValuesOf(one), one.average.begin());
  }
}

StatusOr<float> EmaStep::Accumulate(const data::Batch& batch, int64_t length) {
  Show(false);
  return inner().Accumulate(batch, length);
}

StatusOr<float> EmaStep::Train(const data::Batch& batch, int64_t length,
                               double learning_rate) {
  Show(false);
  const StatusOr<float> loss = inner().Train(batch, length, learning_rate);
  if (loss.ok() && std::isfinite(*loss)) AddValues();
  return loss;
}

void EmaStep::AddValues() {
  const auto update = static_cast<double>(++updates_);
  const double decay = std::min(decay_, (1 + update) / (10 + update));
  const auto share = static_cast<float>(1 - decay);
  for (Averaged& one : averaged_) {
    MoveTowards(one.average, ValuesOf(one), share);
  }
}

// Where they lie, if they are f32.
std::span<const float> EmaStep::ValuesOf(const Averaged& one) {
  const ElementType type = inner().states()[one.state].type;
  const std::span<const std::byte> state = inner().State(one.state);
  if (type == ElementType::kF32) {
    return {reinterpret_cast<const float*>(state.data()), one.average.size()};
  }
  ToFloats(type, state, values_);
  return values_;
}

StatusOr<float> EmaStep::Score(const data::Batch& batch, int64_t length) {
  Show(true);
  return inner().Score(batch, length);
}

Status EmaStep::EndEpoch() {
  Show(false);
  return inner().EndEpoch();
}

Status EmaStep::LendStates() {
  Show(false);
  return inner().LendStates();
}

Status EmaStep::CollectStates() {
  Show(false);
  return inner().CollectStates();
}

StatusOr<std::string> EmaStep::ExplainLoss() {
  Show(false);
  return inner().ExplainLoss();
}

std::span<std::byte> EmaStep::State(size_t index) {
  if (index < inner_count()) {
    Show(false);
    return inner().State(index);
  }
  if (index == inner_count()) {
    return std::as_writable_bytes(std::span(&updates_, 1));
  }
  return std::as_writable_bytes(
      std::span(averaged_[index - inner_count() - 1].average));
}

bool EmaStep::Saves(size_t index) const {
  return index >= inner_count() || inner().Saves(index);
}

bool EmaStep::Requires(size_t index) const {
  return index < inner_count() && inner().Requires(index);
}

void EmaStep::Show(bool averages) {
  if (shows_averages_ == averages) return;
  shows_averages_ = averages;
  for (Averaged& one : averaged_) {
    const std::span<std::byte> state = inner().State(one.state);
    if (averages) {
      one.own.assign(state.begin(), state.end());
      runtime::ConvertElements(ElementType::kF32,
                               std::as_bytes(std::span(one.average)),
                               inner().states()[one.state].type, state);
    } else {
      std::ranges::copy(one.own, state.begin());
      one.own.clear();
      one.own.shrink_to_fit();
    }
  }
}

}  // namespace mxc::train
