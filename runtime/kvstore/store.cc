// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/store.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mxc::kvstore {

Store::Store(const KeyTable& keys, const Settings& settings, Shelf& shelf,
             Answers& answers)
    : keys_(keys),
      settings_(settings),
      shelf_(shelf),
      answers_(answers),
      joined_(settings.workers) {
  for (uint32_t rank = 0; rank < settings.workers; ++rank) {
    members_.insert(rank);
  }
  for (const KeySpec& key : keys) {
    states_.emplace_back(Gathering(settings.compression, key, buffers_),
                         key.sparse() ? key.rows() : 0);
    states_.back().applied.resize(settings.workers);
    const auto row = static_cast<uint32_t>(states_.size() - 1);
    if (CompressesSums(row)) states_[row].residual.resize(key.elements());
  }
}

// The first value of a key counts: another worker's, or the same once more, is
// answered alike.
Status Store::Init(uint32_t worker, uint32_t key, Bytes value) {
  KeyState& state = states_[key];
  if (!state.has_value) {
    std::ranges::copy(value, shelf_.Value(key).begin());
    shelf_.OnWritten(key);
    state.has_value = true;
    if (records_ != nullptr) MXC_RT_RETURN_IF_ERROR(WriteKey(key, *records_));
    AnswerAsking(key);
  }
  answers_.Commit(worker, key, 0);
  return {};
}

bool Store::Fits(uint32_t key, const Header& push) const {
  if (keys_[key].sparse()) {
    return push.codec == static_cast<uint8_t>(Codec::kNone) &&
           MayBeRows(push.total, keys_[key].width, keys_[key].rows());
  }
  const Codec codec = settings_.compression.codec;
  return push.codec == static_cast<uint8_t>(codec) &&
         push.total == EncodedBytes(codec, keys_[key].elements());
}

Status Store::Check(uint32_t worker, const Header& push) const {
  const char* name = keys_[push.key].name.c_str();
  if (!keys_[push.key].trained) {
    return Fail(StatusCode::kInvalidArgument, "key '%s' is not trained", name);
  }
  if (!states_[push.key].has_value) {
    return Fail(StatusCode::kInvalidArgument,
                "key '%s' has no value yet that could be updated", name);
  }
  if (!Fits(push.key, push)) {
    return Fail(StatusCode::kInvalidArgument,
                "what worker %u pushes for key '%s' does not fit", worker,
                name);
  }
  if (push.seq > states_[push.key].applied[worker] + 1 ||
      !members_.contains(worker)) {
    return Fail(StatusCode::kInvalidArgument,
                "push %llu of key '%s' by worker %u is not the next one",
                static_cast<unsigned long long>(push.seq), name, worker);
  }
  return {};
}

bool Store::IsNext(uint32_t worker, const Header& push) const {
  return push.seq == states_[push.key].applied[worker] + 1;
}

std::span<std::byte> Store::Place(uint32_t worker, const Header& push) {
  if (push.key >= keys_.size() || !Check(worker, push).ok() ||
      !IsNext(worker, push)) {
    return {};
  }
  return states_[push.key].gathering.Place(worker, push);
}

// What is applied already is answered once it has come as a whole again.
Status Store::Take(uint32_t worker, const Frame& push) {
  MXC_RT_RETURN_IF_ERROR(Check(worker, push));
  Gathering& gathering = states_[push.key].gathering;
  const bool last = push.offset + push.length == push.total;
  if (!IsNext(worker, push)) {
    if (last) Answer(worker, push);
    return {};
  }
  if (!gathering.Take(worker, push)) {
    return Fail(StatusCode::kInvalidArgument,
                "a part of what worker %u pushes for key '%s' is missing",
                worker, keys_[push.key].name.c_str());
  }
  if (last && keys_[push.key].sparse()) {
    const Status rows = gathering.CheckRows(worker);
    if (!rows.ok()) {
      return Fail(rows.code(), "worker %u pushes for key '%s' %s", worker,
                  keys_[push.key].name.c_str(), rows.message().c_str());
    }
  }
  if (settings_.mode == Mode::kSync) {
    gathering.Add(MembersOf(push.key), settings_.mean);
    return last ? FinishRound(push.key) : Status();
  }
  return last ? ApplyOne(worker, push.key) : Status();
}

// Returns whether the worker takes part in the next round.
bool Store::IsIn(uint32_t worker, uint32_t key) const {
  return members_.contains(worker) && joined_[worker] <= states_[key].version;
}

// Who does.
std::set<uint32_t> Store::MembersOf(uint32_t key) const {
  std::set<uint32_t> members = members_;
  std::erase_if(members, [&](uint32_t rank) { return !IsIn(rank, key); });
  return members;
}

Status Store::FinishRound(uint32_t key) {
  KeyState& state = states_[key];
  const std::set<uint32_t> members = MembersOf(key);
  if (!state.gathering.complete(members)) return {};
  state.gathering.Add(members, settings_.mean);
  std::map<uint32_t, Header> pushes;
  for (const auto& [rank, part] : state.gathering.parts()) {
    pushes[rank] = part.push;
  }
  const auto& [first_rank, first] = *pushes.begin();
  for (const auto& [rank, push] : pushes) {
    if (push.rate == first.rate) continue;
    return Fail(StatusCode::kInvalidArgument,
                "workers %u and %u have learning rates %g and %g in the same "
                "round",
                first_rank, rank, first.rate, push.rate);
  }
  if (keeps_previous_) Remember(key);
  for (const auto& [rank, push] : pushes) state.applied[rank] = push.seq;
  MXC_RT_RETURN_IF_ERROR(
      keys_[key].sparse()
          ? Apply(key, state.gathering.RowsSum(settings_.mean), first.rate)
          : Apply(key, state.gathering.sum(), first.rate));
  state.gathering.Clear();
  for (const auto& [rank, push] : pushes) Answer(rank, push);
  AnswerAsking(key);
  return {};
}

Status Store::ApplyOne(uint32_t worker, uint32_t key) {
  KeyState& state = states_[key];
  const Header push = state.gathering.parts().at(worker).push;
  state.applied[worker] = push.seq;
  MXC_RT_RETURN_IF_ERROR(
      keys_[key].sparse()
          ? Apply(key, state.gathering.RowsOf(worker), push.rate)
          : Apply(key, state.gathering.Decoded(worker), push.rate));
  state.gathering.Release(worker);
  Answer(worker, push);
  AnswerAsking(key);
  return {};
}

void Store::Answer(uint32_t worker, const Header& push) {
  answers_.Commit(worker, push.key, push.seq);
  if ((push.flags & kWantValue) != 0) Pull(worker, push.key, {});
}

Status Store::FinishRounds() {
  for (uint32_t key = 0; key < states_.size(); ++key) {
    if (settings_.mode == Mode::kSync) MXC_RT_RETURN_IF_ERROR(FinishRound(key));
    AnswerAsking(key);
  }
  return {};
}

Status Store::Leave(uint32_t worker) {
  members_.erase(worker);
  Forget(worker);
  for (KeyState& state : states_) state.gathering.Forget(worker);
  return FinishRounds();
}

Status Store::Expel(uint32_t worker) {
  Replace(worker);
  return Leave(worker);
}

void Store::Replace(uint32_t worker) {
  Forget(worker);
  for (KeyState& state : states_) state.gathering.Drop(worker);
}

// In sync mode keys are at most a round apart: nobody pushes for the next one
// before all keys are updated. A worker that was given up has no part in the
// rounds that were made without it.
StatusOr<Store::Rounds> Store::Ask(uint32_t worker) {
  const bool sync = settings_.mode == Mode::kSync;
  const bool missed = !members_.contains(worker);
  uint64_t newest = 0, oldest = UINT64_MAX, earliest = 0;  // of its own keys
  for (uint32_t key = 0; key < states_.size(); ++key) {
    const KeyState& state = states_[key];
    if (!keys_[key].trained || !state.has_value) continue;
    const uint64_t at = sync ? state.version : state.applied[worker];
    newest = std::max(newest, at);
    oldest = std::min(oldest, at);
    earliest = std::max(earliest, at - (state.previous != nullptr ? 1 : 0));
  }
  if (sync && !missed) return Rounds{earliest, oldest};
  members_.insert(worker);
  if (sync) joined_[worker] = newest;
  MXC_RT_RETURN_IF_ERROR(FinishRounds());
  return Rounds{newest, newest};
}

Status Store::Join(uint32_t worker, uint64_t round) {
  members_.insert(worker);
  if (settings_.mode != Mode::kSync) return {};
  joined_[worker] = round;
  return FinishRounds();
}

template <class Count>
uint64_t Store::Fewest(Count count) const {
  uint64_t fewest = UINT64_MAX;
  for (uint32_t key = 0; key < states_.size(); ++key) {
    if (!keys_[key].trained || !states_[key].has_value) continue;
    fewest = std::min(fewest, count(states_[key]));
  }
  return fewest == UINT64_MAX ? 0 : fewest;
}

uint64_t Store::rounds() const {
  return Fewest([](const KeyState& state) { return state.version; });
}

uint64_t Store::rounds(uint32_t worker) const {
  return Fewest([&](const KeyState& key) { return key.applied[worker]; });
}

void Store::Forget(uint32_t worker) {
  for (KeyState& state : states_) {
    state.asking.erase(worker);
    state.rows.erase(worker);
  }
}

}  // namespace mxc::kvstore
