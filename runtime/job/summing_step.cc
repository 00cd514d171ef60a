// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/summing_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/train/step/used_rows.h"

namespace mxc::job {

using runtime::Exchange;
using runtime::Executor;

SummingStep::SummingStep(train::ArtifactStep& step,
                         const train::ArtifactKeys& keys,
                         const train::ArtifactKeys& updated,
                         kvstore::Worker& worker, uint32_t rank,
                         uint32_t workers, MeshMaker make_mesh, bool in_place)
    : JobStep(step, keys, worker, rank),
      updated_(updated),
      workers_(workers),
      buckets_(train::BucketsOf(*step.model())),
      make_mesh_(std::move(make_mesh)) {
  for (Executor* executor : step.trainers()) {
    Plan& plan = plans_.emplace_back(PlanOf(*executor, in_place));
    executor->Follow([this, &plan](size_t row) { Before(plan, row); });
  }
}

SummingStep::~SummingStep() {
  for (Executor* executor : step_.trainers()) executor->Follow({});
}

// A bucket leaves after those before it, in every run.
SummingStep::Plan SummingStep::PlanOf(Executor& executor, bool in_place) const {
  Plan plan{&executor, {}, {}, 0};
  const auto exchanges =
      runtime::ExchangesOf(executor.model().tables(), executor.entry());
  uint32_t ready = 0;
  for (const train::Bucket& bucket : buckets_) {
    auto& parts = plan.parts.emplace_back();
    uint64_t at = 0;
    for (const uint32_t state : bucket.states) {
      const auto exchange =
          std::ranges::find(exchanges, state, &Exchange::state);
      const uint32_t key = updated_.KeyOfState(state);
      const kvstore::KeySpec& spec = updated_.table[key];
      const Part& part = parts.emplace_back(key, *exchange, at, spec.elements(),
                                            spec.sparse() ? spec.rows() : 0);
      at += part.elements + part.marks;
      ready = std::max(ready, in_place ? exchange->settled : exchange->ready);
    }
    plan.ready.push_back(ready);
  }
  return plan;
}

// Counters and what else all keep come, too: everybody makes updates.
StatusOr<train::Position> SummingStep::Begin(const train::Position& own,
                                             const train::EpochLength& length) {
  const auto at = JobStep::Begin(own, length);
  if (!at.ok()) return at;
  if (worker_.replaces()) {
    return Fail(StatusCode::kFailed,
                "the others cannot go on with another worker %u: "
                "their sums lack its gradients; with mxc launch "
                "--on-death restart all begin again",
                rank_);
  }
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (rank_ == 0 || keys_.table[key].trained) continue;
    worker_.Pull(key, step_.State(keys_.states[key]));
  }
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  MXC_RT_ASSIGN(shelf_, train::ArtifactShelf::Make(step_.model(), updated_,
                                                   step_.trainers().front()));
  MXC_RT_ASSIGN(auto mesh, make_mesh_());
  MXC_RT_RETURN_IF_ERROR(Connect(std::move(mesh)));
  return at;
}

// Of a run, at step `row`.
void SummingStep::Before(Plan& plan, size_t row) {
  BeforeRow(plan, row);
  while (plan.begun < buckets_.size() && plan.ready[plan.begun] < row) {
    BeginSum(plan, plan.begun++);
  }
}

std::span<const float> SummingStep::GradientOf(const Plan& plan,
                                               const Part& part) {
  if (accumulated_) return sums_.Finish(*plan.executor, part.exchange);
  return {reinterpret_cast<const float*>(
              plan.executor->OutputStorage(part.exchange.output)),
          part.elements};
}

void SummingStep::TakeRows(const Plan& plan, const Part& part,
                           std::span<float> place, std::span<float> marks) {
  if (accumulated_) sums_.Finish(*plan.executor, part.exchange);
  const kvstore::OwnRows used =
      accumulated_ ? sums_.Rows(part.exchange.state)
                   : train::UsedRows(*plan.executor, part.exchange);
  std::ranges::fill(place, 0.0f);
  kvstore::Replace(used, updated_.table[part.key].width, place);
  std::ranges::fill(marks, 0.0f);
  for (const uint64_t row : used.numbers) marks[row] = 1;
}

// `rows` and `marks` begin with row `first`.
Status SummingStep::UpdateRows(uint32_t key, std::span<const float> rows,
                               std::span<const float> marks, uint64_t first,
                               double rate) {
  std::vector<uint64_t> used;
  for (size_t row = 0; row < marks.size(); ++row) {
    if (marks[row] != 0) used.push_back(row);
  }
  kvstore::OwnRows picked =
      train::PickRows(std::move(used), rows.data(), updated_.table[key].width);
  for (uint64_t& row : picked.numbers) row += first;
  return shelf_->UpdateRows(key, picked, rate);
}

StatusOr<float> SummingStep::Run(const data::Batch& batch, int64_t length,
                                 double rate) {
  MXC_RT_RETURN_IF_ERROR(BeforeRun());
  const StatusOr<float> loss = step_.Train(batch, length, rate);
  MXC_RT_RETURN_IF_ERROR(AfterRun());
  return loss;
}

StatusOr<float> SummingStep::Accumulate(const data::Batch& batch,
                                        int64_t length) {
  for (Plan& plan : plans_) plan.begun = buckets_.size();  // nothing leaves
  constexpr double kNoUpdate = 0;
  const StatusOr<float> loss = Run(batch, length, kNoUpdate);
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  accumulated_ = true;
  for (const Plan& plan : plans_) {
    if (plan.executor != &step_.trainer()) continue;
    for (const auto& parts : plan.parts) {
      for (const Part& part : parts) {
        sums_.Add(*plan.executor, part.exchange);
      }
    }
  }
  return loss;
}

StatusOr<float> SummingStep::Train(const data::Batch& batch, int64_t length,
                                   double learning_rate) {
  for (Plan& plan : plans_) plan.begun = 0;
  const StatusOr<float> loss = Run(batch, length, learning_rate);
  // One that is not finite ends the job: nothing is updated.
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  for (Plan& plan : plans_) {
    if (plan.executor != &step_.trainer()) continue;
    while (plan.begun < buckets_.size()) BeginSum(plan, plan.begun++);
    MXC_RT_RETURN_IF_ERROR(Update(plan, learning_rate));
  }
  accumulated_ = false;
  return loss;
}

}  // namespace mxc::job
