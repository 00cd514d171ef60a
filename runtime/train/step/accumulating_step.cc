// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/accumulating_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/train/step/used_rows.h"

namespace mxc::train {

using runtime::Exchange;
using runtime::Executor;
using runtime::Status;
using runtime::StatusOr;

AccumulatingStep::AccumulatingStep(ArtifactStep& step, ArtifactKeys keys)
    : DelegatingStep(step), step_(step), keys_(std::move(keys)), sums_(step) {
  for (const Executor* executor : step.trainers()) {
    auto& exchanges = exchanges_[executor];
    exchanges =
        runtime::ExchangesOf(executor->model().tables(), executor->entry());
    // As one step updates them: some optimizers count from one to the next.
    std::ranges::sort(exchanges, {}, &Exchange::state);
  }
}

StatusOr<std::unique_ptr<AccumulatingStep>> AccumulatingStep::Make(
    ArtifactStep& step) {
  auto keys = KeysOf(step.model()->tables());
  if (!keys.ok()) return keys.status();
  return std::unique_ptr<AccumulatingStep>(
      new AccumulatingStep(step, std::move(*keys)));
}

// Updates count on from what is restored.
StatusOr<Position> AccumulatingStep::Begin(const Position& own,
                                           const EpochLength& length) {
  auto shelf =
      ArtifactShelf::Make(step_.model(), keys_, step_.trainers().front());
  if (!shelf.ok()) return shelf.status();
  shelf_ = std::move(*shelf);
  return DelegatingStep::Begin(own, length);
}

StatusOr<float> AccumulatingStep::Accumulate(const data::Batch& batch,
                                             int64_t length) {
  constexpr double kNoUpdate = 0;
  const StatusOr<float> loss = step_.Train(batch, length, kNoUpdate);
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  for (const Exchange& exchange : Exchanges()) {
    sums_.Add(step_.trainer(), exchange);
  }
  return loss;
}

StatusOr<float> AccumulatingStep::Train(const data::Batch& batch,
                                        int64_t length, double learning_rate) {
  const StatusOr<float> loss = step_.Train(batch, length, learning_rate);
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  for (const Exchange& exchange : Exchanges()) {
    sums_.Finish(step_.trainer(), exchange);
  }
  const bool skips = SkipsUpdates();
  for (const Exchange& exchange : Exchanges()) {
    const bool scale = keys_.loss_scale == keys_.KeyOfState(exchange.state);
    if (skips && !scale) continue;
    MXC_RT_RETURN_IF_ERROR(Update(exchange, learning_rate));
  }
  return loss;
}

// Where a gradient of any batch is not finite.
bool AccumulatingStep::SkipsUpdates() const {
  if (!keys_.loss_scale) return false;
  const auto state = static_cast<uint32_t>(keys_.states[*keys_.loss_scale]);
  return !std::isfinite(sums_.Values(state)[0]);
}

Status AccumulatingStep::Update(const Exchange& exchange,
                                double learning_rate) {
  const uint32_t key = keys_.KeyOfState(exchange.state);
  const kvstore::KeySpec& spec = keys_.table[key];
  if (spec.sparse()) {
    return shelf_->UpdateRows(key, sums_.Rows(exchange.state), learning_rate);
  }
  return shelf_->Update(key, 0, sums_.Values(exchange.state), learning_rate);
}

}  // namespace mxc::train
