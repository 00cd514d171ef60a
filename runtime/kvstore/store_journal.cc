// SPDX-License-Identifier: Apache-2.0
// A store's records in a journal: of keys as a whole, or of some rows of them.
#include <algorithm>

#include "runtime/formats/byte_reader.h"
#include "runtime/kvstore/store.h"

namespace mxc::kvstore {
namespace {

// Which rows follow, as EncodeRows has it; nothing: none that the key has.
std::optional<std::vector<uint64_t>> ReadNumbers(runtime::ByteReader& reader,
                                                 uint64_t most) {
  uint64_t count = 0;
  if (!reader.Read(&count) || count > most) return std::nullopt;
  std::vector<uint64_t> numbers(count);
  for (uint64_t& number : numbers) {
    if (!reader.Read(&number) || number >= most) return std::nullopt;
  }
  return numbers;
}

}  // namespace

// All memory that an update writes.
std::vector<std::span<std::byte>> Store::Kept(uint32_t key) {
  auto kept = shelf_.Kept(key, 0);
  const auto residual =
      std::as_writable_bytes(std::span(states_[key].residual));
  if (!residual.empty()) kept.push_back(residual);
  return kept;
}

Status Store::WriteKey(uint32_t key, Records& records) {
  const KeyState& state = states_[key];
  std::vector<std::byte> bytes;
  for (const auto part : Kept(key)) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return records.Append({JournalRecord::Kind::kKey, key, state.version, false,
                         false, state.applied, bytes});
}

// Which rows, then of all memory that an update writes those rows, or what is
// not of the value's size as a whole.
Status Store::WriteRows(uint32_t key, const Rows& rows) {
  const KeyState& state = states_[key];
  const size_t width = keys_[key].width * sizeof(float);
  std::vector<std::byte> bytes = EncodeRows({rows.numbers, {}});
  for (const auto part : shelf_.Kept(key, 0)) {
    if (part.size() != keys_[key].bytes) {
      bytes.insert(bytes.end(), part.begin(), part.end());
      continue;
    }
    for (const uint64_t number : rows.numbers) {
      const auto row = part.subspan(number * width, width);
      bytes.insert(bytes.end(), row.begin(), row.end());
    }
  }
  return records_->Append({JournalRecord::Kind::kRows, key, state.version,
                           false, false, state.applied, bytes});
}

// As the record before a key's newest, with what updates change beside the value
// as it is now: of that only the newest counts.
Status Store::WritePrevious(uint32_t key, Records& records) {
  const KeyState& state = states_[key];
  if (state.previous == nullptr) return {};
  std::vector<std::byte> bytes;
  for (const auto part : Kept(key)) {
    const bool value = part.data() == shelf_.Value(key).data();
    const Bytes of = value ? state.previous->bytes : Bytes(part);
    bytes.insert(bytes.end(), of.begin(), of.end());
  }
  return records.Append({JournalRecord::Kind::kKey, key, state.version - 1,
                         false, false, state.previously_applied, bytes});
}

// Keys that are not trained come first: trained ones have newer counters.
Status Store::WriteAll(Records& records) {
  for (const bool trained : {false, true}) {
    for (uint32_t key = 0; key < states_.size(); ++key) {
      if (keys_[key].trained != trained || !states_[key].has_value) continue;
      MXC_RT_RETURN_IF_ERROR(WritePrevious(key, records));
      MXC_RT_RETURN_IF_ERROR(WriteKey(key, records));
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
  KeyState& state = states_[record.index];
  const bool next = state.has_value && record.number == state.version + 1;
  if (next && keeps_previous_) Remember(record.index);
  const auto parts = Kept(record.index);
  size_t size = 0;
  for (const auto part : parts) size += part.size();
  if (record.state.size() != size) return other();
  Bytes rest = record.state;
  for (const auto part : parts) {
    std::ranges::copy(rest.first(part.size()), part.begin());
    rest = rest.subspan(part.size());
  }
  state.has_value = true;
  state.version = record.number;
  state.applied = record.applied;
  if (!keys_[record.index].trained) shelf_.OnWritten(record.index);
  return {};
}

Status Store::RestoreRows(const JournalRecord& record) {
  const auto other = [] {
    return Fail(StatusCode::kCorrupt, "the journal is of another job");
  };
  if (record.index >= states_.size() || !keys_[record.index].sparse() ||
      record.applied.size() != settings_.workers) {
    return other();
  }
  const KeySpec& key = keys_[record.index];
  KeyState& state = states_[record.index];
  runtime::ByteReader reader(record.state);
  const auto numbers = ReadNumbers(reader, key.rows());
  if (!numbers || !state.has_value || record.number != state.version + 1) {
    return other();
  }
  if (keeps_previous_) Remember(record.index);
  const size_t width = key.width * sizeof(float);
  for (const auto part : shelf_.Kept(record.index, 0)) {
    const bool whole = part.size() != key.bytes;
    Bytes written;
    if (!reader.Take(whole ? part.size() : numbers->size() * width, &written)) {
      return other();
    }
    for (size_t i = 0; !whole && i < numbers->size(); ++i) {
      std::ranges::copy(written.subspan(i * width, width),
                        part.subspan((*numbers)[i] * width).begin());
    }
    if (whole) std::ranges::copy(written, part.begin());
  }
  if (reader.left() != 0) return other();
  state.version = record.number;
  state.applied = record.applied;
  return {};
}

}  // namespace mxc::kvstore
