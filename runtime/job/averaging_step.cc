// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/averaging_step.h"

#include <algorithm>
#include <utility>

namespace mxc::job {

AveragingStep::AveragingStep(train::ArtifactStep& step,
                             const train::ArtifactKeys& keys,
                             kvstore::Worker& worker, uint32_t rank,
                             const kvstore::Averaging& averaging)
    : JobStep(step, keys, worker, rank),
      averaging_(averaging),
      states_(step.states()) {
  AddStates();
}

void AveragingStep::AddStates() {
  states_.push_back({"averaging", runtime::ElementType::kI64, {1}});
  for (uint32_t key = 0; key < keys_.position; ++key) {
    const kvstore::KeySpec& spec = keys_.table[key];
    common_.emplace_back(spec.elements());
    push_.emplace_back(spec.trained ? spec.elements() : 0);
    states_.push_back({spec.trained ? "averaging/" + spec.name : spec.name,
                       runtime::ElementType::kF32,
                       {static_cast<int64_t>(spec.elements())}});
  }
}

std::span<std::byte> AveragingStep::State(size_t index) {
  const size_t own = step_.states().size();
  if (index < own) return step_.State(index);
  if (index == own) return std::as_writable_bytes(std::span(&saved_, 1));
  return std::as_writable_bytes(std::span(common_[index - own - 1]));
}

std::span<float> AveragingStep::Own(uint32_t key) {
  const auto bytes = step_.State(keys_.states[key]);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

// While training begins the step's memory holds what is common.
std::span<std::byte> AveragingStep::ValueOf(uint32_t key) {
  if (keys_.table[key].trained) return step_.State(keys_.states[key]);
  return std::as_writable_bytes(std::span(common_[key]));
}

StatusOr<train::Position> AveragingStep::Begin(
    const train::Position& own_at, const train::EpochLength& length) {
  const auto period = static_cast<int64_t>(averaging_.period);
  const bool restored = std::exchange(saved_, 0) != 0;
  if (restored && own_at.batches % period != 0) {
    shows_common_ = false;
    MXC_RT_RETURN_IF_ERROR(Show(true));
  }
  const auto at = JobStep::Begin(own_at, length);
  if (!at.ok()) return at;
  steps_ = static_cast<uint32_t>(at->batches % period);
  if (restored && !worker_.replaces()) return at;
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (!keys_.table[key].trained) continue;
    std::ranges::copy(Own(key), common_[key].begin());
  }
  shows_common_ = false;  // both are the same, and a checkpoint may bring own
  return at;
}

// Workers meet at every `period` batches of an epoch and at its end.
train::Position AveragingStep::After(uint64_t pushes, train::Position begin,
                                     const train::EpochLength& length) const {
  const auto period = static_cast<int64_t>(averaging_.period);
  for (uint64_t push = 0; push < pushes; ++push) {
    if (begin.batches == length(begin.epochs) && begin.batches % period == 0) {
      ++begin.epochs;  // whose end was a meeting anyway
      begin.batches = 0;
    }
    const int64_t all = length(begin.epochs);
    const int64_t met = std::min((begin.batches / period + 1) * period, all);
    begin.steps += met - begin.batches;
    begin.batches = met;
    if (met < all) continue;
    ++begin.epochs;
    begin.batches = 0;
  }
  return begin;
}

StatusOr<float> AveragingStep::Train(const data::Batch& batch, int64_t length,
                                     double learning_rate) {
  MXC_RT_RETURN_IF_ERROR(Show(false));
  const auto loss = step_.Train(batch, length, learning_rate);
  if (!loss.ok() || ++steps_ < averaging_.period) return loss;
  MXC_RT_RETURN_IF_ERROR(Meet());
  return loss;
}

Status AveragingStep::EndEpoch() {
  if (steps_ == 0) return {};
  MXC_RT_RETURN_IF_ERROR(Show(false));
  return Meet();
}

// The center that an elastic worker asks for is there when they meet again.
Status AveragingStep::Meet() {
  steps_ = 0;
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (!keys_.table[key].trained) continue;
    kvstore::Meet(averaging_, Own(key), common_[key], push_[key]);
    worker_.PushPull(key, push_[key], 1,
                     std::as_writable_bytes(std::span(common_[key])), key);
  }
  if (averaging_.rule == kvstore::Averaging::Rule::kElastic) return {};
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (!keys_.table[key].trained) continue;
    std::ranges::copy(common_[key], Own(key).begin());
  }
  return {};
}

Status AveragingStep::Show(bool common) {
  if (shows_common_ == common) return {};
  if (begun()) MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (!keys_.table[key].trained) continue;
    std::ranges::swap_ranges(common_[key], Own(key));
  }
  shows_common_ = common;
  return {};
}

Status AveragingStep::CollectStates() {
  if (!begun()) return {};
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  saved_ = 1;
  if (rank_ != 0) return Show(false);
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (keys_.table[key].trained) continue;
    worker_.Pull(key, std::as_writable_bytes(std::span(common_[key])), key);
  }
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  return Show(steps_ == 0);
}

StatusOr<float> AveragingStep::Score(const data::Batch& batch, int64_t length) {
  MXC_RT_RETURN_IF_ERROR(Show(true));
  return step_.Score(batch, length);
}

}  // namespace mxc::job
