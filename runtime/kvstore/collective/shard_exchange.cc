// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/shard_exchange.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/kvstore/collective/awaited.h"

namespace mxc::kvstore {
namespace {

// What is added up while it is in the first cache.
constexpr size_t kBlock = 2048;

double SumOfSquares(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * double{value};
  return sum;
}

// values = terms[0] + terms[1] + …, of which one may be the values.
void AddTerms(std::span<const float* const> terms, std::span<float> values) {
  std::array<float, kBlock> sum;
  for (size_t at = 0; at < values.size(); at += kBlock) {
    const size_t count = std::min(kBlock, values.size() - at);
    std::copy_n(terms[0] + at, count, sum.begin());
    for (const float* const term : terms.subspan(1)) {
      for (size_t i = 0; i < count; ++i) sum[i] += term[at + i];
    }
    std::copy_n(sum.begin(), count, values.begin() + ptrdiff_t(at));
  }
}

}  // namespace

// A round that is under way.
struct ShardExchange::Flight {
  Kind kind;
  const Round& round;
  std::vector<float>& staged;
  Awaited awaited = {};
};

StatusOr<std::unique_ptr<ShardExchange>> ShardExchange::Make(
    std::unique_ptr<Mesh> mesh) {
  std::unique_ptr<ShardExchange> made(new ShardExchange(std::move(mesh)));
  MXC_RT_RETURN_IF_ERROR(made->mesh_->AwaitAll());
  made->thread_.emplace(*made->mesh_);
  return made;
}

void ShardExchange::BeginSum(std::vector<Round> rounds) {
  thread_->Begin(
      [this, rounds = std::move(rounds)] { return Run(Kind::kSum, rounds); });
}

void ShardExchange::BeginGather(std::vector<Round> rounds) {
  thread_->Begin([this, rounds = std::move(rounds)] {
    return Run(Kind::kGather, rounds);
  });
}

// A round is sent while the one before is added up. Whatever fails, nothing is
// under way when it returns.
Status ShardExchange::Run(Kind kind, const std::vector<Round>& rounds) {
  std::optional<Flight> flights[2];
  for (size_t i = 0; i <= rounds.size(); ++i) {
    if (i < rounds.size()) {
      Post(flights[i % 2].emplace(kind, rounds[i], staged_[i % 2]));
    }
    if (i == 0) continue;
    const Status status = Finish(*flights[(i - 1) % 2]);
    if (status.ok()) continue;
    if (i < rounds.size()) (void)flights[i % 2]->awaited.Await();
    return status;
  }
  return {};
}

// Whoever owns nothing of the round is told so: a message without bytes.
void ShardExchange::Post(Flight& flight) {
  const uint32_t own = mesh_->rank();
  const uint64_t elements = flight.round.ElementsOf(own);
  if (flight.kind == Kind::kSum) {
    flight.staged.resize(elements * (mesh_->workers() - 1));
  }
  std::span<float> staged = flight.staged;
  for (uint32_t peer = 0; peer < mesh_->workers(); ++peer) {
    if (peer == own) continue;
    const bool sums = flight.kind == Kind::kSum;
    const auto& sent = flight.round.of[sums ? peer : own];
    const auto& received = flight.round.of[sums ? own : peer];
    if (sent.empty()) mesh_->Send(peer, kSlot, {}, flight.awaited.Teller());
    for (const Round::Piece& piece : sent) {
      mesh_->Send(peer, kSlot, std::as_bytes(piece.values),
                  flight.awaited.Teller());
    }
    if (received.empty()) {
      mesh_->Receive(peer, kSlot, {}, flight.awaited.Teller());
    }
    for (const Round::Piece& piece : received) {
      std::span<float> to = piece.values;
      if (sums) {
        to = staged.first(piece.values.size());
        staged = staged.subspan(to.size());
      }
      mesh_->Receive(peer, kSlot, std::as_writable_bytes(to),
                     flight.awaited.Teller());
    }
  }
}

Status ShardExchange::Finish(Flight& flight) {
  MXC_RT_RETURN_IF_ERROR(flight.awaited.Await());
  if (flight.kind == Kind::kSum) AddUp(flight);
  return {};
}

void ShardExchange::AddUp(const Flight& flight) {
  const uint32_t own = mesh_->rank(), workers = mesh_->workers();
  const uint64_t elements = flight.round.ElementsOf(own);
  uint64_t at = 0;
  for (const Round::Piece& piece : flight.round.of[own]) {
    if (piece.squares != nullptr) *piece.squares += SumOfSquares(piece.values);
    std::vector<const float*> terms;
    for (uint32_t step = 1; step <= workers; ++step) {
      const uint32_t rank = (piece.chunk + workers - step) % workers;
      const uint64_t before = rank < own ? rank : rank - 1;
      terms.push_back(rank == own
                          ? piece.values.data()
                          : flight.staged.data() + before * elements + at);
    }
    AddTerms(terms, piece.values);
    at += piece.values.size();
  }
}

}  // namespace mxc::kvstore
