// SPDX-License-Identifier: Apache-2.0
// A client's values as they come, and rows of sparse keys.
#include <algorithm>
#include <utility>

#include "runtime/kvstore/client.h"
#include "runtime/kvstore/client_server.h"

namespace mxc::kvstore {

std::pair<uint64_t, uint64_t> Client::RowsOf(uint32_t part) const {
  const uint64_t width = parts_.table[part].width;
  const uint64_t begin = parts_.parts[part].begin / width;
  return {begin, begin + parts_.table[part].rows()};
}

// A part of which nothing is pushed is told so: its round waits for that.
void Client::PushRows(uint32_t key, const Rows& gradient, double rate,
                      int64_t priority) {
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    const auto [begin, end] = RowsOf(part);
    const Rows own = Between(gradient, begin, end, parts_.table[part].width);
    BeginPush(part, Own(EncodeRows(own, begin)), rate, priority);
    SendPush(ServerOf(part), part);
  }
}

// A part of which nothing is wanted is not asked, but for what the process
// before has pushed: then for its first row.
void Client::PullRows(uint32_t key, std::span<const uint64_t> numbers,
                      std::span<float> out, int64_t priority) {
  constexpr uint64_t kFirst[] = {0};
  auto rest = std::as_writable_bytes(out);
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    State& state = states_[part];
    const auto [begin, end] = RowsOf(part);
    const size_t row = parts_.table[part].width * sizeof(float);
    const Rows own = Between({numbers, {}}, begin, end, row);
    state.priority = priority;
    if (!own.numbers.empty()) {
      const size_t bytes = own.numbers.size() * row;
      BeginPull(part, rest.first(bytes), Own(EncodeRows(own, begin)));
      rest = rest.subspan(bytes);
    } else if (state.adopts) {
      state.unwanted.resize(row);
      BeginPull(part, state.unwanted, Own(EncodeRows({kFirst, {}})));
    } else {
      continue;
    }
    if (state.push == nullptr) SendPull(ServerOf(part), part);
  }
}

void Client::PullChanges(uint32_t key, std::span<std::byte> out,
                         int64_t priority) {
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    BeginPull(part, Slice(part, out));
    states_[part].changes = true;
    states_[part].priority = priority;
    if (states_[part].push == nullptr) SendPull(ServerOf(part), part);
  }
}

// What was pushed again is answered again: that is not awaited.
bool Client::IsAwaited(const Server& server, const Header& value) const {
  if (value.key >= states_.size() ||
      parts_.parts[value.key].server != server.index) {
    return false;
  }
  const State& state = states_[value.key];
  return !state.out.empty() && (state.adopts || value.holds == state.seq);
}

// A value is read where it is wanted, if it is neither compressed nor rows that
// have changed; from then on that memory has no version. Nothing: it is not the
// next piece of one that fits.
std::span<std::byte> Client::PlaceOf(const Header& value) {
  State& state = states_[value.key];
  const KeySpec& key = parts_.table[value.key];
  const Compression& compression = options_.settings.compression;
  std::span<std::byte> whole = state.out;
  if ((value.flags & kChanges) != 0) {
    const bool asked = state.changes && state.has;
    if (!asked || !MayBeRows(value.total, key.width, key.rows())) return {};
    if (value.offset == 0) state.encoded.resize(value.total);
    whole = state.encoded;
  } else if (value.codec != 0) {
    if (state.rows != nullptr || !compression.both_ways() ||
        value.codec != static_cast<uint8_t>(compression.codec)) {
      return {};
    }
    state.encoded.resize(
        EncodedBytes(compression.codec, state.out.size() / sizeof(float)));
    whole = state.encoded;
  } else if (state.rows == nullptr) {
    state.has.reset();
  }
  if (value.total != whole.size() || value.offset != state.received) return {};
  return whole.subspan(value.offset, value.length);
}

std::span<std::byte> Client::Place(const Server& server, const Header& header) {
  if (header.type != FrameType::kValue || !IsAwaited(server, header)) return {};
  return PlaceOf(header);
}

Status Client::OnValue(const Server& server, const Frame& frame) {
  if (!IsAwaited(server, frame)) return {};
  State& state = states_[frame.key];
  if (state.adopts) state.seq = frame.holds;
  const auto to = PlaceOf(frame);
  if (to.empty()) {
    return Fail(StatusCode::kCorrupt,
                "the server's value of key '%s' does not fit",
                parts_.table[frame.key].name.c_str());
  }
  if (frame.payload.data() != to.data()) {
    CopyBytes(frame.payload, to);
  }
  state.received += frame.length;
  if (state.received < frame.total) return {};
  MXC_RT_RETURN_IF_ERROR(Complete(frame.key, frame));
  state.version = frame.seq;
  state.adopts = false;
  state.out = {};
  state.rows = nullptr;
  --open_;
  return {};
}

// All of a value is there.
Status Client::Complete(uint32_t part, const Header& value) {
  State& state = states_[part];
  const KeySpec& key = parts_.table[part];
  const std::span<float> out(reinterpret_cast<float*>(state.out.data()),
                             state.out.size() / sizeof(float));
  if ((value.flags & kChanges) != 0) {
    const auto rows = DecodeRows(state.encoded, key.width, key.rows());
    if (!rows.ok()) return rows.status();
    Replace(*rows, key.width, out);
  } else if (value.codec != 0) {
    Decode(options_.settings.compression, state.encoded, out);
  }
  if (state.rows == nullptr) state.has = value.seq;
  return {};
}

}  // namespace mxc::kvstore
