// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/all_reduce_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/train/step/used_rows.h"

namespace mxc::job {

using runtime::Exchange;
using runtime::Executor;

AllReduceStep::AllReduceStep(train::ArtifactStep& step,
                             const train::ArtifactKeys& keys,
                             kvstore::Worker& worker, uint32_t rank,
                             uint32_t workers, MeshMaker make_mesh)
    : JobStep(step, keys, worker, rank),
      workers_(workers),
      make_mesh_(std::move(make_mesh)),
      buckets_(train::BucketsOf(*step.model())) {
  for (const train::Bucket& bucket : buckets_) {
    buffers_.emplace_back(bucket.elements);
  }
  for (Executor* executor : step.trainers()) {
    Plan& plan = plans_.emplace_back(PlanOf(*executor));
    executor->Follow([this, &plan](size_t row) { Before(plan, row); });
  }
}

AllReduceStep::~AllReduceStep() {
  for (Executor* executor : step_.trainers()) executor->Follow({});
}

// A bucket leaves after those before it, in every run.
AllReduceStep::Plan AllReduceStep::PlanOf(const Executor& executor) {
  Plan plan{&executor, {}, {}, 0};
  const auto exchanges =
      runtime::ExchangesOf(executor.model().tables(), executor.entry());
  uint32_t ready = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    std::span<float> rest = buffers_[b];
    auto& parts = plan.parts.emplace_back();
    for (const uint32_t state : buckets_[b].states) {
      const auto at = std::ranges::find(exchanges, state, &Exchange::state);
      const uint32_t key = keys_.KeyOfState(state);
      const kvstore::KeySpec& spec = keys_.table[key];
      const size_t marks = spec.sparse() ? spec.rows() : 0;
      const size_t elements =
          spec.sparse() ? marks * spec.width : at->bytes / sizeof(float);
      parts.push_back(
          {key, *at, rest.first(elements), rest.subspan(elements, marks)});
      rest = rest.subspan(elements + marks);
      ready = std::max(ready, at->ready);
    }
    plan.ready.push_back(ready);
  }
  return plan;
}

// The optimizer's states come, too: everybody makes the updates.
StatusOr<train::Position> AllReduceStep::Begin(
    const train::Position& own, const train::EpochLength& length) {
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
  auto shelf = train::ArtifactShelf::Make(step_.model(), keys_,
                                          step_.trainers().front());
  if (!shelf.ok()) return shelf.status();
  shelf_ = std::move(*shelf);
  MXC_RT_ASSIGN(auto mesh, make_mesh_());
  auto all_reduce = kvstore::AllReduce::Make(std::move(mesh));
  if (!all_reduce.ok()) return all_reduce.status();
  all_reduce_ = std::move(*all_reduce);
  return at;
}

// Of a run, at step `row`.
void AllReduceStep::Before(Plan& plan, size_t row) {
  while (plan.begun < buckets_.size() && plan.ready[plan.begun] < row) {
    BeginNext(plan);
  }
}

// Takes the rows of a table that this worker has used, and which these are.
void AllReduceStep::TakeRows(const Plan& plan, const Part& part) {
  if (accumulated_) sums_.Finish(*plan.executor, part.exchange);
  const kvstore::OwnRows used =
      accumulated_ ? sums_.Rows(part.exchange.state)
                   : train::UsedRows(*plan.executor, part.exchange);
  std::ranges::fill(part.place, 0.0f);
  kvstore::Replace(used, keys_.table[part.key].width, part.place);
  std::ranges::fill(part.marks, 0.0f);
  for (const uint64_t row : used.numbers) part.marks[row] = 1;
}

void AllReduceStep::TakeGradient(const Plan& plan, const Part& part) {
  if (!part.marks.empty()) return TakeRows(plan, part);
  if (accumulated_) {
    std::ranges::copy(sums_.Finish(*plan.executor, part.exchange),
                      part.place.begin());
  } else {
    std::memcpy(part.place.data(),
                plan.executor->OutputStorage(part.exchange.output),
                part.place.size_bytes());
  }
}

void AllReduceStep::BeginNext(Plan& plan) {
  for (const Part& part : plan.parts[plan.begun]) TakeGradient(plan, part);
  all_reduce_->Begin(buffers_[plan.begun++]);
}

// Of a table, the rows that any worker has used.
Status AllReduceStep::Update(const Part& part, double learning_rate) {
  if (part.marks.empty()) {
    return shelf_->Update(part.key, 0, part.place, learning_rate);
  }
  std::vector<uint64_t> used;
  for (size_t row = 0; row < part.marks.size(); ++row) {
    if (part.marks[row] != 0) used.push_back(row);
  }
  return shelf_->UpdateRows(part.key,
                            train::PickRows(std::move(used), part.place.data(),
                                            keys_.table[part.key].width),
                            learning_rate);
}

// Returns whether any worker has, once all sums are there: all find the same.
bool AllReduceStep::FindsNotFinite(const Plan& plan) const {
  for (const auto& parts : plan.parts) {
    const auto scale = std::ranges::find(parts, *keys_.loss_scale, &Part::key);
    if (scale != parts.end()) return !std::isfinite(scale->place[0]);
  }
  return false;
}

Status AllReduceStep::FinishRun(double learning_rate) {
  const float share = 1 / static_cast<float>(workers_);
  for (Plan& plan : plans_) {
    if (plan.executor != &step_.trainer()) continue;
    while (plan.begun < buckets_.size()) BeginNext(plan);
    const uint64_t before = all_reduce_->begun() - buckets_.size();
    if (keys_.loss_scale) MXC_RT_RETURN_IF_ERROR(all_reduce_->Wait());
    const bool skips = keys_.loss_scale && FindsNotFinite(plan);
    for (size_t b = 0; b < buckets_.size(); ++b) {
      MXC_RT_RETURN_IF_ERROR(all_reduce_->Wait(before + b + 1));
      if (workers_ > 1) {
        for (float& value : buffers_[b]) value *= share;
      }
      for (const Part& part : plan.parts[b]) {
        if (skips && part.key != *keys_.loss_scale) continue;
        MXC_RT_RETURN_IF_ERROR(Update(part, learning_rate));
      }
    }
  }
  return {};
}

StatusOr<float> AllReduceStep::Accumulate(const data::Batch& batch,
                                          int64_t length) {
  for (Plan& plan : plans_) plan.begun = buckets_.size();  // nothing leaves
  constexpr double kNoUpdate = 0;
  const StatusOr<float> loss = step_.Train(batch, length, kNoUpdate);
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

StatusOr<float> AllReduceStep::Train(const data::Batch& batch, int64_t length,
                                     double learning_rate) {
  for (Plan& plan : plans_) plan.begun = 0;
  const StatusOr<float> loss = step_.Train(batch, length, learning_rate);
  // One that is not finite ends the job: nothing is updated.
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  MXC_RT_RETURN_IF_ERROR(FinishRun(learning_rate));
  accumulated_ = false;
  return loss;
}

}  // namespace mxc::job
