// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/distributed_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/trace.h"
#include "runtime/train/step/used_rows.h"

namespace mxc::job {

using runtime::Exchange;
using runtime::Executor;

DistributedStep::DistributedStep(train::ArtifactStep& step,
                                 const train::ArtifactKeys& keys,
                                 kvstore::Worker& worker, uint32_t rank,
                                 bool overlaps, int64_t batches_a_push)
    : JobStep(step, keys, worker, rank),
      states_(step.states()),
      overlaps_(overlaps),
      batches_a_push_(batches_a_push) {
  AddResiduals();
  for (Executor* executor : step.trainers()) {
    Plan& plan = plans_.emplace_back();
    plan.executor = executor;
    plan.by_ready =
        runtime::ExchangesOf(executor->model().tables(), executor->entry());
    plan.by_needed = plan.by_ready;
    std::ranges::stable_sort(plan.by_needed, {}, &Exchange::needed);
    if (!overlaps) continue;
    overlaps_ = executor->Follow([this, &plan](size_t row) {
      Before(plan, row);
    }) && overlaps_;
  }
}

DistributedStep::~DistributedStep() {
  for (Executor* executor : step_.trainers()) executor->Follow({});
}

void DistributedStep::AddResiduals() {
  for (uint32_t key = 0; key < keys_.table.size(); ++key) {
    const auto residual = worker_.Residual(key);
    if (residual.empty()) continue;
    residuals_.push_back(key);
    states_.push_back({"residual/" + keys_.table[key].name,
                       runtime::ElementType::kF32,
                       {static_cast<int64_t>(residual.size())}});
  }
}

bool DistributedStep::Saves(size_t index) const {
  return rank_ == 0 || std::ranges::count(keys_.states, index) == 0;
}

bool DistributedStep::Requires(size_t index) const {
  return Saves(index) && index < states_.size() - residuals_.size();
}

// Of a run, at step `row`. What is wrong is told when the run has ended.
void DistributedStep::Before(Plan& plan, size_t row) {
  while (pushes_ && plan.pushed < plan.by_ready.size() &&
         plan.by_ready[plan.pushed].ready < row) {
    Push(plan, plan.by_ready[plan.pushed++]);
  }
  while (plan.awaited < plan.by_needed.size() &&
         plan.by_needed[plan.awaited].needed <= row) {
    const Status status = Await(plan.by_needed[plan.awaited++]);
    if (status_.ok()) status_ = status;
  }
}

// What leaves stays where it is until the parameter is back.
std::span<const float> DistributedStep::GradientOf(const Plan& plan,
                                                   const Exchange& exchange) {
  if (batches_a_push_ > 1) return sums_.Finish(*plan.executor, exchange);
  return {reinterpret_cast<const float*>(
              plan.executor->OutputStorage(exchange.output)),
          exchange.bytes / sizeof(float)};
}

// Of a table, of which the step has used some rows.
void DistributedStep::PushRows(const Plan& plan, const Exchange& exchange) {
  const uint32_t key = keys_.KeyOfState(exchange.state);
  const kvstore::KeySpec& spec = keys_.table[key];
  if (batches_a_push_ > 1) {
    sums_.Finish(*plan.executor, exchange);
    rows_ = sums_.Rows(exchange.state);
  } else {
    rows_ = train::UsedRows(*plan.executor, exchange);
  }
  worker_.PushRows(key, rows_, learning_rate_, spec.priority);
  worker_.PullChanges(key, step_.State(exchange.state), spec.priority);
}

void DistributedStep::Push(const Plan& plan, const Exchange& exchange) {
  const uint32_t key = keys_.KeyOfState(exchange.state);
  if (keys_.table[key].sparse()) return PushRows(plan, exchange);
  worker_.PushPull(key, GradientOf(plan, exchange), learning_rate_,
                   step_.State(exchange.state), keys_.table[key].priority);
}

Status DistributedStep::Await(const Exchange& exchange) {
  const runtime::TraceSpan span("wait for a parameter", "communication");
  return worker_.Wait(keys_.KeyOfState(exchange.state));
}

// What leaves at the end lies where the next run may write.
Status DistributedStep::FinishRun() {
  for (Plan& plan : plans_) {
    if (plan.executor != &step_.trainer()) continue;
    for (; plan.pushed < plan.by_ready.size(); ++plan.pushed) {
      Push(plan, plan.by_ready[plan.pushed]);
    }
    const auto steps =
        plan.executor->model().tables().Steps(plan.executor->entry()).size();
    for (const Exchange& exchange : plan.by_ready) {
      if (exchange.ready < steps) continue;
      MXC_RT_RETURN_IF_ERROR(Await(exchange));
    }
  }
  return status_;
}

StatusOr<float> DistributedStep::Accumulate(const data::Batch& batch,
                                            int64_t length) {
  if (!overlaps_) MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  pushes_ = false;
  for (Plan& plan : plans_) plan.awaited = 0;
  constexpr double kNoUpdate = 0;
  const StatusOr<float> loss = step_.Train(batch, length, kNoUpdate);
  pushes_ = true;
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  // The sums may still be on their way out.
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  for (const Plan& plan : plans_) {
    if (plan.executor != &step_.trainer()) continue;
    for (const Exchange& exchange : plan.by_ready) {
      sums_.Add(*plan.executor, exchange);
    }
  }
  if (!status_.ok()) return status_;
  return loss;
}

train::Position DistributedStep::After(uint64_t pushes, train::Position begin,
                                       const train::EpochLength& length) const {
  if (batches_a_push_ == 1) return JobStep::After(pushes, begin, length);
  for (uint64_t push = 0; push < pushes; ++push) {
    if (begin.batches >= length(begin.epochs)) {
      ++begin.epochs;
      begin.batches = 0;
    }
    begin.batches =
        std::min(begin.batches + batches_a_push_, length(begin.epochs));
    ++begin.steps;
  }
  return begin;
}

StatusOr<float> DistributedStep::Train(const data::Batch& batch, int64_t length,
                                       double learning_rate) {
  if (!overlaps_) MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  learning_rate_ = learning_rate;
  for (Plan& plan : plans_) plan.pushed = plan.awaited = 0;
  const StatusOr<float> loss = step_.Train(batch, length, learning_rate);
  // One that is not finite ends the job: nothing more leaves.
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  MXC_RT_RETURN_IF_ERROR(FinishRun());
  return loss;
}

StatusOr<float> DistributedStep::Score(const data::Batch& batch,
                                       int64_t length) {
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  return step_.Score(batch, length);
}

std::span<std::byte> DistributedStep::State(size_t index) {
  const Status status = worker_.Wait();
  if (status_.ok()) status_ = status;
  const size_t own = step_.states().size();
  if (index < own) return step_.State(index);
  return std::as_writable_bytes(worker_.Residual(residuals_[index - own]));
}

// What the optimizer keeps, for who saves it; parameters come back after each
// step.
Status DistributedStep::CollectStates() {
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  if (!begun() || rank_ != 0) return {};
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (keys_.table[key].trained) continue;
    worker_.Pull(key, step_.State(keys_.states[key]), key);
  }
  return worker_.Wait();
}

}  // namespace mxc::job
