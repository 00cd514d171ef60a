// SPDX-License-Identifier: Apache-2.0
// A store's sparse keys: updated by some rows, pulled and remembered so.
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

Status Store::Apply(uint32_t key, const Rows& gradient, double rate) {
  LetGo(key);
  MXC_RT_RETURN_IF_ERROR(shelf_.UpdateRows(key, gradient, rate));
  ++states_[key].version;
  if (journal_ == nullptr) return {};
  return shelf_.lazy() ? WriteRows(key, gradient) : WriteKey(key, *journal_);
}

// What is wanted of a value.
Body Store::Cut(uint32_t worker, uint32_t key, const Body& value,
                const Wanted& wanted) {
  if (!wanted.rows) return value;
  const size_t bytes = keys_[key].width * sizeof(float);
  std::vector<std::byte> rows;
  rows.reserve(wanted.rows->size() * bytes);
  for (const uint64_t number : *wanted.rows) {
    const Bytes row = value->bytes.subspan(number * bytes, bytes);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const Body body = Own(std::move(rows));
  states_[key].rows[worker] = body;
  return body;
}

// Which rows, then of all memory that an update writes those rows, or what is
// not of the value's size as a whole.
Status Store::WriteRows(uint32_t key, const Rows& rows) {
  const KeyState& state = states_[key];
  const size_t width = keys_[key].width * sizeof(float);
  std::vector<std::byte> bytes = EncodeRows({rows.numbers, {}});
  for (const auto part : shelf_.Kept(key)) {
    if (part.size() != keys_[key].bytes) {
      bytes.insert(bytes.end(), part.begin(), part.end());
      continue;
    }
    for (const uint64_t number : rows.numbers) {
      const auto row = part.subspan(number * width, width);
      bytes.insert(bytes.end(), row.begin(), row.end());
    }
  }
  return journal_->Append({JournalRecord::Kind::kRows, key, state.version,
                           false, false, state.applied, bytes});
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
  for (const auto part : shelf_.Kept(record.index)) {
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
