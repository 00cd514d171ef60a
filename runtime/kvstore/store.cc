// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/store.h"

#include <algorithm>
#include <utility>

namespace mxc::kvstore {

Store::Store(const KeyTable& keys, const Settings& settings, Shelf& shelf,
             Answers& answers)
    : keys_(keys),
      settings_(settings),
      shelf_(shelf),
      answers_(answers),
      states_(keys.size()) {
  for (uint32_t rank = 0; rank < settings.workers; ++rank) {
    members_.insert(rank);
  }
  for (KeyState& state : states_) state.applied.resize(settings.workers);
}

uint64_t Store::PushBytes(uint32_t key) const {
  return EncodedBytes(settings_.compression.codec, keys_[key].elements());
}

// The first value of a key counts: another worker's, or the same once more, is
// answered alike.
Status Store::Init(uint32_t worker, uint32_t key, Bytes value) {
  KeyState& state = states_[key];
  if (!state.has_value) {
    std::ranges::copy(value, shelf_.Value(key).begin());
    shelf_.OnWritten(key);
    state.has_value = true;
    if (journal_ != nullptr) MXC_RT_RETURN_IF_ERROR(WriteKey(key, *journal_));
    for (const uint32_t rank : std::exchange(state.asking, {})) {
      SendValue(rank, key);
    }
  }
  answers_.Commit(worker, key, 0);
  return {};
}

Status Store::Check(const Push& push) const {
  const KeyState& state = states_[push.key];
  const char* name = keys_[push.key].name.c_str();
  if (!keys_[push.key].trained) {
    return Fail(StatusCode::kInvalidArgument, "key '%s' is not trained", name);
  }
  if (!state.has_value) {
    return Fail(StatusCode::kInvalidArgument,
                "key '%s' has no value yet that could be updated", name);
  }
  if (push.seq > state.applied[push.worker] + 1 ||
      !members_.contains(push.worker)) {
    return Fail(StatusCode::kInvalidArgument,
                "push %llu of key '%s' by worker %u is not the next one",
                static_cast<unsigned long long>(push.seq), name, push.worker);
  }
  return {};
}

Status Store::Take(Push push) {
  MXC_RT_RETURN_IF_ERROR(Check(push));
  const uint32_t key = push.key;
  KeyState& state = states_[key];
  if (push.seq <= state.applied[push.worker]) {
    Answer(push);
    return {};
  }
  if (settings_.mode == Mode::kAsync) {
    const Push* const one = &push;
    MXC_RT_RETURN_IF_ERROR(Apply(key, {&one, 1}));
    Answer(push);
    return {};
  }
  // The same push once more: it replaces its equal.
  state.waiting.insert_or_assign(push.worker, std::move(push));
  return FinishRound(key);
}

Status Store::FinishRound(uint32_t key) {
  KeyState& state = states_[key];
  const bool complete = std::ranges::all_of(
      members_, [&](uint32_t rank) { return state.waiting.contains(rank); });
  if (!complete || state.waiting.empty()) return {};
  const auto round = std::exchange(state.waiting, {});
  std::vector<const Push*> pushes;  // by rank
  for (const auto& [rank, push] : round) pushes.push_back(&push);
  MXC_RT_RETURN_IF_ERROR(Apply(key, pushes));
  for (const Push* push : pushes) Answer(*push);
  return {};
}

Status Store::Apply(uint32_t key, std::span<const Push* const> pushes) {
  KeyState& state = states_[key];
  const Push& first = *pushes.front();
  sum_.resize(keys_[key].elements());
  part_.resize(sum_.size());
  Decode(settings_.compression, first.encoded, sum_);
  for (const Push* push : pushes.subspan(1)) {
    if (push->rate != first.rate) {
      return Fail(StatusCode::kInvalidArgument,
                  "workers %u and %u have learning rates %g and %g in the same "
                  "round",
                  first.worker, push->worker, first.rate, push->rate);
    }
    Decode(settings_.compression, push->encoded, part_);
    for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += part_[i];
  }
  if (settings_.mean && pushes.size() > 1) {
    const float share = 1 / static_cast<float>(pushes.size());
    for (float& value : sum_) value *= share;
  }
  MXC_RT_RETURN_IF_ERROR(shelf_.Update(key, sum_, first.rate));
  ++state.version;
  state.copy = nullptr;
  for (const Push* push : pushes) state.applied[push->worker] = push->seq;
  return journal_ == nullptr ? Status() : WriteKey(key, *journal_);
}

Status Store::WriteKey(uint32_t key, Journal& journal) {
  const KeyState& state = states_[key];
  std::vector<std::byte> bytes;
  for (const auto part : shelf_.Parts(key)) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return journal.Append({JournalRecord::Kind::kKey, key, state.version, false,
                         state.applied, bytes});
}

// Keys that are not trained come first: trained ones have newer counters.
Status Store::WriteAll(Journal& journal) {
  for (const bool trained : {false, true}) {
    for (uint32_t key = 0; key < states_.size(); ++key) {
      if (keys_[key].trained != trained || !states_[key].has_value) continue;
      MXC_RT_RETURN_IF_ERROR(WriteKey(key, journal));
    }
  }
  return {};
}

Status Store::Restore(const JournalRecord& record) {
  const auto other = [] {
    return Fail(StatusCode::kCorrupt, "the journal is of another job");
  };
  if (record.index >= states_.size() ||
      record.applied.size() != settings_.workers) {
    return other();
  }
  const auto parts = shelf_.Parts(record.index);
  size_t size = 0;
  for (const auto part : parts) size += part.size();
  if (record.state.size() != size) return other();
  Bytes rest = record.state;
  for (const auto part : parts) {
    std::ranges::copy(rest.first(part.size()), part.begin());
    rest = rest.subspan(part.size());
  }
  KeyState& state = states_[record.index];
  state.has_value = true;
  state.version = record.number;
  state.applied = record.applied;
  if (!keys_[record.index].trained) shelf_.OnWritten(record.index);
  return {};
}

void Store::Answer(const Push& push) {
  answers_.Commit(push.worker, push.key, push.seq);
  if (push.want_value) SendValue(push.worker, push.key);
}

void Store::Pull(uint32_t worker, uint32_t key) {
  if (states_[key].has_value) {
    SendValue(worker, key);
  } else {
    states_[key].asking.insert(worker);
  }
}

// A trained key's copy serves all workers; what updates change beside it is
// copied anew.
void Store::SendValue(uint32_t worker, uint32_t key) {
  KeyState& state = states_[key];
  if (state.copy == nullptr || !keys_[key].trained) {
    const auto value = shelf_.Value(key);
    state.copy = std::make_shared<const std::vector<std::byte>>(value.begin(),
                                                                value.end());
  }
  answers_.Value(worker, key, state.version, state.applied[worker], state.copy);
}

Status Store::Leave(uint32_t worker) {
  members_.erase(worker);
  Forget(worker);
  for (uint32_t key = 0; key < states_.size(); ++key) {
    MXC_RT_RETURN_IF_ERROR(FinishRound(key));
  }
  return {};
}

void Store::Forget(uint32_t worker) {
  for (KeyState& state : states_) state.asking.erase(worker);
}

}  // namespace mxc::kvstore
