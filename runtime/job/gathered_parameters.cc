// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/gathered_parameters.h"

#include <algorithm>
#include <numeric>

#include "runtime/artifact/communication.h"
#include "runtime/base/trace.h"
#include "runtime/kvstore/collective/rounds.h"

namespace mxc::job {
namespace {

using kvstore::RoundBuilder;
using runtime::Executor;
using train::StateShares;

// What may come before it is needed; one parameter may at any size.
constexpr uint64_t kMostAhead = uint64_t{32} << 20;

}  // namespace

GatheredParameters::GatheredParameters(train::ArtifactStep& step,
                                       const OwnParts& own, uint32_t rank,
                                       uint32_t workers)
    : step_(step), own_(own), rank_(rank), workers_(workers) {
  for (const auto& executors : {step.trainers(), step.scorers()}) {
    for (const Executor* executor : executors) {
      plans_.emplace(executor, PlanOf(*executor));
    }
  }
}

GatheredParameters::Plan GatheredParameters::PlanOf(
    const Executor& executor) const {
  Plan plan;
  for (const runtime::StateUse& use :
       runtime::StateUsesOf(executor.model().tables(), executor.entry())) {
    const uint32_t key = own_.keys().KeyOfState(use.state);
    if (key < own_.keys().position &&
        own_.shares().IsShared(own_.keys().table[key])) {
      plan.uses.push_back({key, use.first, use.last});
    }
  }
  plan.by_end.resize(plan.uses.size());
  std::iota(plan.by_end.begin(), plan.by_end.end(), size_t{0});
  std::ranges::stable_sort(plan.by_end, {},
                           [&](size_t use) { return plan.uses[use].last; });
  return plan;
}

std::span<std::byte> GatheredParameters::ValueOf(uint32_t key) {
  return step_.State(own_.keys().states[key]);
}

// One that is still there from an earlier use stays.
void GatheredParameters::Gather(const Use& use) {
  Held& held = held_[use.key];
  if (held.uses++ > 0) return;
  const auto value = ValueOf(use.key);
  RoundBuilder rounds(workers_);
  for (const StateShares::Part& part : own_.shares().Parts(use.key)) {
    const auto bytes = own_.shares().In(value, use.key, part);
    rounds.Add(part.worker, {{reinterpret_cast<float*>(bytes.data()),
                              bytes.size() / sizeof(float)}});
  }
  exchange_->BeginGather(rounds.Take());
  held.exchange = exchange_->begun();
}

void GatheredParameters::Release(const Use& use) {
  if (--held_[use.key].uses > 0) return;
  own_.shares().ReleaseOthers(ValueOf(use.key), use.key, rank_);
}

Status GatheredParameters::Before(const Executor& executor, size_t row) {
  run_ = &executor;
  const Plan& plan = plans_.at(&executor);
  const auto is_over = [&](const Use& use) { return use.last < row; };
  while (ended_ < plan.by_end.size() &&
         is_over(plan.uses[plan.by_end[ended_]])) {
    Release(plan.uses[plan.by_end[ended_++]]);
  }
  const auto bytes = [&](const Use& use) {
    return own_.keys().table[use.key].bytes;
  };
  for (; begun_ < plan.uses.size(); ++begun_) {
    const Use& next = plan.uses[begun_];
    const bool needed = next.first <= row;
    if (!needed && ahead_ > 0 && ahead_ + bytes(next) > kMostAhead) break;
    ahead_ += bytes(next);
    Gather(next);
  }
  for (; needed_ < plan.uses.size() && plan.uses[needed_].first <= row;
       ++needed_) {
    const Use& use = plan.uses[needed_];
    ahead_ -= bytes(use);
    const runtime::TraceSpan span("wait for a parameter", "communication");
    MXC_RT_RETURN_IF_ERROR(exchange_->Wait(held_[use.key].exchange));
  }
  return {};
}

Status GatheredParameters::EndRun() {
  return run_ == nullptr ? Status() : Before(*run_, SIZE_MAX);
}

}  // namespace mxc::job
