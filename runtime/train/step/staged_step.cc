// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/staged_step.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace mxc::train {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

StagedStep::StagedStep(StageSet stages)
    : stages_(std::move(stages)), group_(stages_.size()) {
  for (const StageSet::State& state : stages_.states()) {
    states_.push_back(state.field);
  }
  given_.assign(states_.size(), true);
}

StatusOr<std::unique_ptr<StagedStep>> StagedStep::Bound(StageSet stages,
                                                        const std::string& path,
                                                        int threads) {
  std::unique_ptr<StagedStep> step(new StagedStep(std::move(stages)));
  const auto count = static_cast<int>(step->stages_.size());
  if (threads == 0) threads = runtime::AvailableThreads();
  for (int stage = 0; stage < count; ++stage) {
    MXC_RT_ASSIGN(
        auto part,
        ArtifactStep::Bound(
            step->stages_.models()[static_cast<size_t>(stage)],
            {.path = path,
             .threads = std::max(1, threads / count),
             .facts = step->stages_.FactsFor(static_cast<size_t>(stage))}));
    part->Join(&step->group_.member(static_cast<size_t>(stage)));
    step->parts_.push_back(std::move(part));
  }
  step->facts_ = step->parts_[0]->facts();
  step->facts_.elsewhere.clear();
  return step;
}

// What several stages keep they keep alike.
void StagedStep::SpreadStates() {
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!given_[i]) continue;
    given_[i] = false;
    const auto& holders = stages_.states()[i].holders;
    const auto first = parts_[holders[0].stage]->State(holders[0].row);
    for (size_t k = 1; k < holders.size(); ++k) {
      std::ranges::copy(
          first, parts_[holders[k].stage]->State(holders[k].row).begin());
    }
  }
}

StatusOr<float> StagedStep::RunAll(const data::Batch& batch, const Run& run) {
  SpreadStates();
  std::vector<std::optional<StatusOr<float>>> losses(parts_.size());
  const auto run_part = [&](size_t stage) {
    losses[stage] = run(*parts_[stage], stages_.PartOf(batch, stage));
    // The others would wait for what it sends.
    if (!losses[stage]->ok()) group_.Abort();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (size_t stage = 1; stage < parts_.size(); ++stage) {
        threads.emplace_back(run_part, stage);
      }
    } catch (const std::system_error& error) {
      group_.Abort();
      return Fail(StatusCode::kIo, "cannot start a thread for each stage: %s",
                  error.code().message().c_str());
    }
    run_part(0);
  }
  // Whoever waited for another stage knows less.
  for (const auto& loss : losses) {
    if (!loss->ok() && loss->status().code() != StatusCode::kFailed) {
      return loss->status();
    }
  }
  for (const auto& loss : losses) {
    if (!loss->ok()) return loss->status();
  }
  return **losses[0];
}

StatusOr<float> StagedStep::Train(const data::Batch& batch, int64_t length,
                                  double learning_rate) {
  return RunAll(batch, [&](ArtifactStep& part, const data::Batch& own) {
    return part.Train(own, length, learning_rate);
  });
}

StatusOr<float> StagedStep::Score(const data::Batch& batch, int64_t length) {
  return RunAll(batch, [&](ArtifactStep& part, const data::Batch& own) {
    return part.Score(own, length);
  });
}

std::span<std::byte> StagedStep::State(size_t index) {
  given_[index] = true;
  const StageSet::Holder& holder = stages_.states()[index].holders[0];
  return parts_[holder.stage]->State(holder.row);
}

}  // namespace mxc::train
