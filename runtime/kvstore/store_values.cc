// SPDX-License-Identifier: Apache-2.0
// A store's values: what updates make of them, and who gets them.
#include <algorithm>
#include <utility>

#include "runtime/kvstore/store.h"

namespace mxc::kvstore {

void Store::Remember(uint32_t key) {
  KeyState& state = states_[key];
  const Bytes value = shelf_.Value(key);
  state.previous = Own({value.begin(), value.end()});
  state.previously_applied = state.applied;
}

// Whoever is still sending the value before gets a copy of it.
void Store::LetGo(uint32_t key) {
  KeyState& state = states_[key];
  if (state.body != nullptr && state.body.use_count() > 1) MakeOwn(*state.body);
  state.body = nullptr;
}

Status Store::Apply(uint32_t key, std::span<const float> gradient,
                    double rate) {
  LetGo(key);
  KeyState& state = states_[key];
  std::vector<float> heard;  // by the workers
  if (CompressesSums(key)) {
    const Compression& compression = settings_.compression;
    state.body = Own(Encode(compression, gradient, state.residual));
    state.body->codec = static_cast<uint8_t>(compression.codec);
    heard.resize(gradient.size());
    Decode(compression, state.body->bytes, heard);
    gradient = heard;
  }
  MXC_RT_RETURN_IF_ERROR(shelf_.Update(key, 0, gradient, rate));
  ++state.version;
  return records_ == nullptr ? Status() : WriteKey(key, *records_);
}

Status Store::Apply(uint32_t key, const Rows& gradient, double rate) {
  LetGo(key);
  MXC_RT_RETURN_IF_ERROR(shelf_.UpdateRows(key, gradient, rate));
  ++states_[key].version;
  if (!shelf_.assigns()) states_[key].changes.Add(gradient.numbers);
  if (records_ == nullptr) return {};
  return shelf_.assigns() ? WriteKey(key, *records_) : WriteRows(key, gradient);
}

// Returns whether workers hear of a sum as the server hears of gradients.
bool Store::CompressesSums(uint32_t key) const {
  return settings_.compression.both_ways() && settings_.mode == Mode::kSync &&
         keys_[key].trained && !keys_[key].sparse() && shelf_.assigns();
}

void Store::Pull(uint32_t worker, uint32_t key, const Wanted& wanted) {
  KeyState& state = states_[key];
  const bool cut = wanted.rows || wanted.since;
  if (cut && !state.rows[worker].expired()) return;
  if (wanted.as_of && state.previous != nullptr &&
      state.version == *wanted.as_of + 1) {
    return answers_.Value(worker, key, *wanted.as_of,
                          state.previously_applied[worker],
                          Cut(worker, key, state.previous, wanted));
  }
  if (IsFresh(worker, key)) {
    SendValue(worker, key, wanted);
  } else {
    state.asking[worker] = wanted;
  }
}

// Returns whether the value may be answered with: of bounded staleness, that no
// member is behind the worker by more; of a round that the worker has joined.
bool Store::IsFresh(uint32_t worker, uint32_t key) const {
  const KeyState& state = states_[key];
  if (!state.has_value) return false;
  if (keys_[key].trained && !IsIn(worker, key)) return false;
  if (settings_.mode != Mode::kSsp) return true;
  return std::ranges::all_of(members_, [&](uint32_t rank) {
    return state.applied[rank] + settings_.staleness >= state.applied[worker];
  });
}

void Store::AnswerAsking(uint32_t key) {
  std::erase_if(states_[key].asking, [&](const auto& asks) {
    const auto& [worker, wanted] = asks;
    const bool fresh = IsFresh(worker, key);
    if (fresh) SendValue(worker, key, wanted);
    return fresh;
  });
}

// Nothing: all may have, or all of the value is no more than they are.
std::optional<std::vector<uint64_t>> Store::ChangedSince(
    uint32_t key, uint64_t version) const {
  const KeyState& state = states_[key];
  if (version > state.version) return std::nullopt;
  auto rows = state.changes.OfLast(state.version - version);
  const bool fewer =
      rows && BytesOfRows(rows->size(), keys_[key].width) < keys_[key].bytes;
  return fewer ? rows : std::nullopt;
}

// What is wanted of a value.
Body Store::Cut(uint32_t worker, uint32_t key, const Body& value,
                const Wanted& wanted) {
  const bool changes = wanted.since.has_value();
  const auto numbers = changes ? ChangedSince(key, *wanted.since) : wanted.rows;
  if (!numbers) return value;
  const size_t bytes = keys_[key].width * sizeof(float);
  std::vector<std::byte> rows;
  if (changes) rows = EncodeRows({*numbers, {}});
  rows.reserve(rows.size() + numbers->size() * bytes);
  for (const uint64_t number : *numbers) {
    const Bytes row = value->bytes.subspan(number * bytes, bytes);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const Body body = Own(std::move(rows));
  body->changes = changes;
  states_[key].rows[worker] = body;
  return body;
}

// A trained key's value is lent until its next update; what updates change
// beside it is copied.
void Store::SendValue(uint32_t worker, uint32_t key, const Wanted& wanted) {
  KeyState& state = states_[key];
  if (state.body == nullptr || !keys_[key].trained) {
    state.body = Lend(shelf_.Value(key));
    if (!keys_[key].trained) MakeOwn(*state.body);
  }
  answers_.Value(worker, key, state.version, state.applied[worker],
                 Cut(worker, key, state.body, wanted));
}

}  // namespace mxc::kvstore
