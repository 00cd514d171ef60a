// SPDX-License-Identifier: Apache-2.0
#include "tools/run/averaging_step.h"

#include <algorithm>
#include <utility>

namespace mxc::run {

using runtime::Status;
using runtime::StatusOr;

AveragingStep::AveragingStep(ArtifactStep& step, const ArtifactKeys& keys,
                             kvstore::Worker& worker, uint32_t rank,
                             const kvstore::Averaging& averaging)
    : JobStep(step, keys, worker, rank, averaging.period),
      averaging_(averaging) {}

std::span<float> AveragingStep::Own(uint32_t key) {
  const auto bytes = step_.State(keys_.states[key]);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

StatusOr<train::Position> AveragingStep::Begin(const train::Position& own_at) {
  const auto at = JobStep::Begin(own_at);
  if (!at.ok()) return at;
  for (uint32_t key = 0; key < keys_.position; ++key) {
    const auto own = Own(key);
    common_.emplace_back(own.begin(), own.end());
    push_.emplace_back(own.size());
  }
  return at;
}

StatusOr<float> AveragingStep::Train(const data::Batch& batch, int64_t length,
                                     double learning_rate) {
  MXC_RT_RETURN_IF_ERROR(Show(false));
  const auto loss = step_.Train(batch, length, learning_rate);
  if (!loss.ok() || ++steps_ < averaging_.period) return loss;
  steps_ = 0;
  MXC_RT_RETURN_IF_ERROR(Meet());
  return loss;
}

// The center that an elastic worker asks for is there when they meet again.
Status AveragingStep::Meet() {
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (uint32_t key = 0; key < keys_.position; ++key) {
    kvstore::Meet(averaging_, Own(key), common_[key], push_[key]);
    worker_.PushPull(key, push_[key], 1,
                     std::as_writable_bytes(std::span(common_[key])), key);
  }
  if (averaging_.rule == kvstore::Averaging::Rule::kElastic) return {};
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (uint32_t key = 0; key < keys_.position; ++key) {
    std::ranges::copy(common_[key], Own(key).begin());
  }
  return {};
}

Status AveragingStep::Show(bool common) {
  if (!begun() || shows_common_ == common) return {};
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (uint32_t key = 0; key < keys_.position; ++key) {
    std::ranges::swap_ranges(common_[key], Own(key));
  }
  shows_common_ = common;
  return {};
}

StatusOr<float> AveragingStep::Score(const data::Batch& batch, int64_t length) {
  MXC_RT_RETURN_IF_ERROR(Show(true));
  return step_.Score(batch, length);
}

}  // namespace mxc::run
