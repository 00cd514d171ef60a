// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/sharded_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "runtime/base/pages.h"
#include "runtime/base/trace.h"
#include "runtime/job/mesh_messages.h"
#include "runtime/kvstore/gloo/ring.h"

namespace mxc::job {
namespace {

using kvstore::Round;
using kvstore::RoundBuilder;
using runtime::Executor;
using train::StateShares;

static_assert(kTensorSlot == kvstore::ShardExchange::kSlot);

// Returns whether what a run has left in the output lies where nothing else
// does.
bool IsApart(const Executor& executor, uint32_t output) {
  const runtime::Tables& tables = executor.model().tables();
  const mxc_entry& entry = executor.entry();
  const auto outputs = tables.Outputs(entry);
  if (executor.buffers()[outputs[output]].kind != MXC_BUFFER_OUTPUT) {
    return false;
  }
  const uint32_t base = tables.Base(entry, outputs[output]);
  return std::ranges::count_if(outputs, [&](uint32_t buffer) {
           return tables.Base(entry, buffer) == base;
         }) == 1;
}

}  // namespace

ShardedStep::ShardedStep(train::ArtifactStep& step,
                         const train::ArtifactKeys& keys,
                         const train::ArtifactKeys& updated, StateShares shares,
                         const OwnParts* own, kvstore::Worker& worker,
                         uint32_t rank, uint32_t workers, MeshMaker make_mesh)
    : SummingStep(step, keys, updated, worker, rank, workers,
                  std::move(make_mesh), /*in_place=*/true),
      shares_(std::move(shares)),
      own_(own),
      by_needed_(buckets_.size()),
      sums_over_(buckets_.size()) {
  std::iota(by_needed_.begin(), by_needed_.end(), size_t{0});
  std::ranges::stable_sort(by_needed_, {}, [this](size_t bucket) {
    return FirstNeeded(plans().front(), bucket);
  });
  for (const Plan& plan : plans()) ReadPlan(plan);
  if (own == nullptr) return;
  gathered_.emplace(step, *own, rank, workers);
  for (Executor* executor : step.scorers()) {
    executor->Follow([this, executor](size_t row) {
      const Status status = gathered_->Before(*executor, row);
      if (status_.ok()) status_ = status;
    });
  }
}

ShardedStep::~ShardedStep() {
  for (Executor* executor : step_.scorers()) executor->Follow({});
}

uint32_t ShardedStep::FirstNeeded(const Plan& plan, size_t bucket) {
  const auto& parts = plan.parts[bucket];
  return std::ranges::min(parts, {},
                          [](const Part& part) { return part.exchange.needed; })
      .exchange.needed;
}

// Parameters come back in one order in all runs; the first that a step needs may
// be behind others.
void ShardedStep::ReadPlan(const Plan& plan) {
  std::vector<Needed>& needed = needed_[&plan];
  for (size_t i = 0; i < by_needed_.size(); ++i) {
    needed.push_back({FirstNeeded(plan, by_needed_[i]), i + 1});
  }
  std::ranges::stable_sort(needed, {}, &Needed::row);
  for (size_t i = 1; i < needed.size(); ++i) {
    needed[i].gathers = std::max(needed[i].gathers, needed[i - 1].gathers);
  }
  for (const auto& parts : plan.parts) {
    for (const Part& part : parts) {
      if (part.marks == 0 && IsApart(*plan.executor, part.exchange.output)) {
        continue;
      }
      copies_[part.key].resize(part.elements + part.marks);
    }
  }
}

Status ShardedStep::Connect(std::unique_ptr<kvstore::Mesh> mesh) {
  MXC_RT_ASSIGN(exchange_, kvstore::ShardExchange::Make(std::move(mesh)));
  for (uint32_t key = 0; key < updated_.position; ++key) {
    if (!Shares(updated_.states[key])) continue;
    for (const StateShares::Part& part : shares_.Parts(key)) {
      if (part.worker != rank_) runtime::UseSmallPages(BytesOf(key, part));
    }
  }
  if (!gathered_) return DealStates();
  gathered_->Connect(*exchange_);
  return {};
}

// The first states are worker 0's; each keeps its own.
Status ShardedStep::DealStates() {
  for (uint32_t key = 0; key < updated_.position; ++key) {
    if (!updated_.IsOptimizers(key)) continue;
    for (const StateShares::Part& part : shares_.Parts(key)) {
      const auto bytes = BytesOf(key, part);
      if (rank_ == 0 && part.worker != 0) {
        MXC_RT_RETURN_IF_ERROR(
            SendPieces(exchange_->mesh(), part.worker, bytes));
      } else if (rank_ == part.worker && rank_ != 0) {
        MXC_RT_RETURN_IF_ERROR(ReceiveState(bytes));
      }
      if (rank_ != part.worker) {
        runtime::ReleasePages(bytes);
      }
    }
  }
  return {};
}

Status ShardedStep::ReceiveState(std::span<std::byte> state) {
  return ReceivePieces(exchange_->mesh(), 0, state.size(), [&](auto piece) {
    std::ranges::copy(piece, state.begin());
    state = state.subspan(piece.size());
    return Status();
  });
}

// Of those that each has begun with by itself. It takes place when checkpoints are
// read, before the first run.
Status ShardedStep::RequireAlike() {
  if (own_ == nullptr || std::exchange(alike_, true)) return {};
  const std::span<const uint64_t> own = own_->checksums();
  if (rank_ == 0) {
    for (uint32_t worker = 1; worker < workers_; ++worker) {
      MXC_RT_RETURN_IF_ERROR(
          SendPieces(exchange_->mesh(), worker, std::as_bytes(own)));
    }
    return {};
  }
  std::vector<uint64_t> first(own.size());
  auto rest = std::as_writable_bytes(std::span(first));
  MXC_RT_RETURN_IF_ERROR(
      ReceivePieces(exchange_->mesh(), 0, rest.size(), [&](auto piece) {
        std::ranges::copy(piece, rest.begin());
        rest = rest.subspan(piece.size());
        return Status();
      }));
  const auto other = std::ranges::mismatch(own, first);
  if (other.in1 == own.end()) return {};
  const auto key = static_cast<size_t>(other.in1 - own.begin());
  return Fail(StatusCode::kInvalidArgument,
              "worker %u begins with another '%s' than worker 0: where workers "
              "share parameters, each reads --params and checkpoints itself or "
              "draws them by the same --init and --seed",
              rank_, updated_.table[key].name.c_str());
}

// A gradient that was added up is of no use but for the part that is updated here.
Status ShardedStep::ReleaseSums(const Plan& plan, size_t buckets) {
  for (; released_ < buckets; ++released_) {
    MXC_RT_RETURN_IF_ERROR(exchange_->Wait(sums_over_[released_]));
    for (const Part& part : plan.parts[released_]) {
      if (!SharesParameter(part.key)) continue;
      const std::span<float> place = places_.at(part.key).first(part.elements);
      for (const StateShares::Part& other : shares_.Parts(part.key)) {
        if (other.worker == rank_ || part.marks > 0) continue;
        const double norm =
            train::NormOf(place.subspan(other.begin, other.count));
        squares_[part.key] += norm * norm;
      }
      shares_.ReleaseOthers(std::as_writable_bytes(place), part.key, rank_);
    }
  }
  return {};
}

Status ShardedStep::Settle() {
  return exchange_ == nullptr ? Status() : exchange_->Wait();
}

Status ShardedStep::SettleTogether() {
  MXC_RT_RETURN_IF_ERROR(Settle());
  return AwaitOthers(exchange_->mesh());
}

// A gradient that the step has left by itself is written over by its sum.
std::span<float> ShardedStep::PlaceOf(const Plan& plan, const Part& part) {
  const auto copied = copies_.find(part.key);
  if (part.marks > 0) {
    const auto place = std::span(copied->second);
    TakeRows(plan, part, place.first(part.elements),
             place.subspan(part.elements));
    return place;
  }
  const std::span<const float> gradient = GradientOf(plan, part);
  if (copied == copies_.end()) {
    return {const_cast<float*>(gradient.data()), gradient.size()};
  }
  std::ranges::copy(gradient, copied->second.begin());
  return copied->second;
}

void ShardedStep::BeginSum(const Plan& plan, size_t bucket) {
  constexpr size_t kUnderWay = 2;  // buckets
  if (bucket == 0) released_ = 0;
  if (own_ != nullptr && bucket >= kUnderWay) {
    const Status status = ReleaseSums(plan, bucket - kUnderWay + 1);
    if (status_.ok()) status_ = status;
  }
  RoundBuilder rounds(workers_);
  const uint64_t chunk =
      kvstore::RingChunk(buckets_[bucket].elements, workers_);
  for (const Part& part : plan.parts[bucket]) {
    const std::span<float> place = places_[part.key] = PlaceOf(plan, part);
    double& squares = squares_[part.key] = 0;
    AddTo(rounds, {part.key, place.first(part.elements), 1, part.at, &squares},
          chunk);
    if (part.marks == 0) continue;
    AddTo(rounds,
          {part.key, place.subspan(part.elements),
           updated_.table[part.key].width, part.at + part.elements},
          chunk);
  }
  exchange_->BeginSum(rounds.Take());
  sums_over_[bucket] = exchange_->begun();
}

// Each part, cut where the ring's chunks end.
void ShardedStep::AddTo(RoundBuilder& rounds, const Values& values,
                        uint64_t chunk) const {
  for (const StateShares::Part& part : shares_.Parts(values.key)) {
    uint64_t begin = part.begin / values.width;
    const uint64_t end = (part.begin + part.count) / values.width;
    while (begin < end) {
      const uint64_t in_ring = (values.at + begin) / chunk;
      const uint64_t cut = std::min(end, (in_ring + 1) * chunk - values.at);
      rounds.Add(part.worker, {values.values.subspan(begin, cut - begin),
                               static_cast<uint32_t>(in_ring), values.squares});
      begin = cut;
    }
  }
}

// Updated values, for which no order matters. The loss's scale all update.
std::vector<Round> ShardedStep::ParametersOf(const Plan& plan, size_t bucket) {
  RoundBuilder rounds(workers_);
  for (const Part& part : plan.parts[bucket]) {
    if (part.key == updated_.loss_scale || SharesParameter(part.key)) continue;
    const auto value = step_.State(updated_.states[part.key]);
    AddTo(rounds,
          {part.key, {reinterpret_cast<float*>(value.data()), part.elements}},
          part.elements + 1);
  }
  return rounds.Take();
}

// Whoever has the sum of the marks gives it to all, and all find the same.
StatusOr<bool> ShardedStep::FindsNotFinite(const Plan& plan) {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    for (const Part& part : plan.parts[b]) {
      if (part.key != updated_.loss_scale) continue;
      RoundBuilder rounds(workers_);
      AddTo(rounds, {part.key, places_.at(part.key)}, part.elements + 1);
      exchange_->BeginGather(rounds.Take());
      MXC_RT_RETURN_IF_ERROR(exchange_->Wait());
      return !std::isfinite(places_.at(part.key)[0]);
    }
  }
  return false;
}

Status ShardedStep::UpdateElements(const Part& part,
                                   const StateShares::Part& own,
                                   double learning_rate) {
  const std::span<float> place = places_.at(part.key);
  const auto gradient = place.subspan(own.begin, own.count);
  if (workers_ > 1) {
    const float share = 1 / static_cast<float>(workers_);
    for (float& value : gradient) value *= share;
  }
  if (part.marks == 0) {
    return shelf_->Update(part.key, own.begin, gradient, learning_rate);
  }
  const uint64_t width = updated_.table[part.key].width;
  const uint64_t first = own.begin / width;
  return UpdateRows(part.key, gradient,
                    place.subspan(part.elements + first, own.count / width),
                    first, learning_rate);
}

Status ShardedStep::UpdatePart(const Part& part, double learning_rate) {
  for (const StateShares::Part& own : shares_.Parts(part.key)) {
    if (own.worker != rank_ && part.key != updated_.loss_scale) continue;
    MXC_RT_RETURN_IF_ERROR(UpdateElements(part, own, learning_rate));
  }
  return {};
}

// First what is needed first, so that it is back first.
Status ShardedStep::Update(const Plan& plan, double learning_rate) {
  bool skips = false;
  if (updated_.loss_scale) {
    MXC_RT_ASSIGN(skips, FindsNotFinite(plan));
  }
  if (own_ != nullptr) {
    MXC_RT_RETURN_IF_ERROR(ReleaseSums(plan, buckets_.size()));
  }
  first_gather_ = exchange_->begun();
  for (const size_t b : by_needed_) {
    MXC_RT_RETURN_IF_ERROR(exchange_->Wait(sums_over_[b]));
    for (const Part& part : plan.parts[b]) {
      if (skips && part.key != *updated_.loss_scale) continue;
      MXC_RT_RETURN_IF_ERROR(UpdatePart(part, learning_rate));
    }
    exchange_->BeginGather(ParametersOf(plan, b));
  }
  return {};
}

Status ShardedStep::BeforeRun() {
  awaited_ = 0;
  if (!gathered_) return {};
  MXC_RT_RETURN_IF_ERROR(RequireAlike());
  gathered_->BeginRun();
  return {};
}

Status ShardedStep::AfterRun() {
  MXC_RT_RETURN_IF_ERROR(status_);
  return gathered_ ? gathered_->EndRun() : Status();
}

// What is wrong is told when the run has ended.
void ShardedStep::BeforeRow(const Plan& plan, size_t row) {
  const std::vector<Needed>& needed = needed_.at(&plan);
  for (; awaited_ < needed.size() && needed[awaited_].row <= row; ++awaited_) {
    if (first_gather_ == kNone) continue;
    const runtime::TraceSpan span("wait for a parameter", "communication");
    const Status status =
        exchange_->Wait(first_gather_ + needed[awaited_].gathers);
    if (status_.ok()) status_ = status;
  }
  if (!gathered_) return;
  const Status status = gathered_->Before(*plan.executor, row);
  if (status_.ok()) status_ = status;
}

StatusOr<float> ShardedStep::Score(const data::Batch& batch, int64_t length) {
  MXC_RT_RETURN_IF_ERROR(Settle());
  MXC_RT_RETURN_IF_ERROR(BeforeRun());
  const StatusOr<float> loss = SummingStep::Score(batch, length);
  MXC_RT_RETURN_IF_ERROR(status_);
  if (loss.ok() && gathered_) {
    MXC_RT_RETURN_IF_ERROR(gathered_->EndRun());
  }
  return loss;
}

std::span<std::byte> ShardedStep::State(size_t index) {
  const Status status = Settle();
  if (status_.ok()) status_ = status;
  return SummingStep::State(index);
}

bool ShardedStep::Shares(size_t index) const {
  const uint32_t key = updated_.KeyOfState(index);
  return key < updated_.position &&
         (updated_.IsOptimizers(key) ||
          (own_ != nullptr && updated_.IsParameter(key)));
}

// Where sums were made in a gradient's place, its own part's squares are known
// from before.
std::vector<float> ShardedStep::gradient_norms() const {
  std::vector<float> norms = SummingStep::gradient_norms();
  const std::vector<std::string>& names = step_.facts().parameters;
  for (const auto& [key, place] : places_) {
    const kvstore::KeySpec& spec = updated_.table[key];
    const auto name = std::ranges::find(names, spec.name);
    const auto index = static_cast<size_t>(name - names.begin());
    if (spec.sparse() || index >= norms.size()) continue;
    double squares = squares_.at(key);
    for (const StateShares::Part& part : shares_.Parts(key)) {
      if (part.worker == rank_ || SharesParameter(key)) continue;
      const double norm = train::NormOf(place.subspan(part.begin, part.count));
      squares += norm * norm;
    }
    norms[index] = static_cast<float>(step_.Rescale() * std::sqrt(squares));
  }
  return norms;
}

StatusOr<bool> ShardedStep::EndsHere(bool own) {
  MXC_RT_ASSIGN(const bool ends, AskFirst(exchange_->mesh(), own));
  if (ends) MXC_RT_RETURN_IF_ERROR(SettleTogether());
  return ends;
}

}  // namespace mxc::job
