// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/gathering.h"

#include <algorithm>
#include <utility>

namespace mxc::kvstore {
namespace {

std::span<const float> AsFloats(Bytes bytes) {
  return {reinterpret_cast<const float*>(bytes.data()),
          bytes.size() / sizeof(float)};
}

}  // namespace

Gathering::Gathering(const Compression& compression, const KeySpec& key,
                     Buffers& buffers)
    : compression_(key.sparse() ? Compression() : compression),
      elements_(key.elements()),
      width_(key.width),
      buffers_(buffers) {}

// Sizes of rows do not come again.
std::vector<std::byte> Gathering::Take(uint64_t bytes) {
  return sparse() ? std::vector<std::byte>(bytes) : buffers_.Take(bytes);
}

void Gathering::Give(std::vector<std::byte> buffer) {
  if (!sparse()) buffers_.Give(std::move(buffer));
}

std::span<std::byte> Gathering::Place(uint32_t worker, const Header& push) {
  auto found = parts_.find(worker);
  if (found != parts_.end() && found->second.push.seq != push.seq) {
    Forget(worker);
    found = parts_.end();
  }
  if (found == parts_.end()) {
    found = parts_.emplace(worker, Part{push, Take(push.total), 0}).first;
  }
  Part& part = found->second;
  if (push.offset != part.have || push.total != part.bytes.size()) return {};
  return std::span(part.bytes).subspan(push.offset, push.length);
}

bool Gathering::Take(uint32_t worker, const Frame& payload) {
  const std::span<std::byte> place = Place(worker, payload);
  Part& part = parts_.at(worker);
  if (payload.offset > part.have || payload.total != part.bytes.size()) {
    return false;
  }
  if (payload.offset < part.have) return true;
  if (payload.payload.data() != place.data()) {
    CopyBytes(payload.payload, place);
  }
  part.have += payload.length;
  return true;
}

void Gathering::Forget(uint32_t worker) {
  const auto found = parts_.find(worker);
  if (found != parts_.end() && !found->second.whole()) Drop(worker);
}

// What it has is in a sum already, perhaps: that begins again.
void Gathering::Drop(uint32_t worker) {
  if (!parts_.contains(worker)) return;
  Release(worker);
  added_ = 0;
}

bool Gathering::complete(const std::set<uint32_t>& members) const {
  return !parts_.empty() && std::ranges::all_of(members, [&](uint32_t rank) {
    const auto found = parts_.find(rank);
    return found != parts_.end() && found->second.whole();
  });
}

void Gathering::Add(const std::set<uint32_t>& members, bool mean) {
  if (sparse()) return;
  uint64_t common = bytes();
  for (const auto& [rank, part] : parts_) common = std::min(common, part.have);
  for (const uint32_t rank : members) {
    if (!parts_.contains(rank)) return;
  }
  if (common <= added_ || (parts_.size() == 1 && plain())) return;
  const Codec codec = compression_.codec;
  const uint64_t from = ElementsOf(codec, added_);
  const uint64_t to = std::min(elements_, ElementsOf(codec, common));
  const auto sum = sums().subspan(from, to - from);
  if (plain()) {
    AddPlain(sum);
  } else {
    bool first = true;
    for (const auto& [rank, part] : parts_) {
      AddPart(part, std::exchange(first, false), sum);
    }
  }
  if (mean && parts_.size() > 1) {
    const float share = 1 / static_cast<float>(parts_.size());
    for (float& value : sum) value *= share;
  }
  added_ = common;
}

// Of two parts or more. The first two at once: memory is read and written less.
void Gathering::AddPlain(std::span<float> to) {
  auto part = parts_.begin();
  const auto next = [&] {
    const Bytes bytes = (part++)->second.bytes;
    return AsFloats(bytes.subspan(added_, to.size_bytes()));
  };
  const auto first = next(), second = next();
  for (size_t i = 0; i < to.size(); ++i) to[i] = first[i] + second[i];
  for (size_t count = 2; count < parts_.size(); ++count) {
    const auto values = next();
    for (size_t i = 0; i < to.size(); ++i) to[i] += values[i];
  }
}

void Gathering::AddPart(const Part& part, bool first, std::span<float> to) {
  const Bytes encoded =
      Bytes(part.bytes)
          .subspan(added_, EncodedBytes(compression_.codec, to.size()));
  if (first) return Decode(compression_, encoded, to);
  std::vector<std::byte> decoded = buffers_.Take(to.size_bytes());
  const std::span<float> values(reinterpret_cast<float*>(decoded.data()),
                                to.size());
  Decode(compression_, encoded, values);
  for (size_t i = 0; i < to.size(); ++i) to[i] += values[i];
  buffers_.Give(std::move(decoded));
}

std::span<float> Gathering::sums() {
  if (sum_.empty()) sum_ = buffers_.Take(elements_ * sizeof(float));
  return {reinterpret_cast<float*>(sum_.data()), elements_};
}

std::span<const float> Gathering::sum() const {
  if (parts_.size() > 1 || !plain()) return AsFloats(sum_);
  return AsFloats(parts_.begin()->second.bytes);
}

std::span<const float> Gathering::Decoded(uint32_t worker) {
  const Part& part = parts_.at(worker);
  if (plain()) return AsFloats(part.bytes);
  Decode(compression_, part.bytes, sums());
  return sums();
}

Status Gathering::CheckRows(uint32_t worker) const {
  return DecodeRows(parts_.at(worker).bytes, width_, elements_ / width_)
      .status();
}

Rows Gathering::RowsOf(uint32_t worker) const {
  return *DecodeRows(parts_.at(worker).bytes, width_, elements_ / width_);
}

OwnRows Gathering::RowsSum(bool mean) const {
  std::vector<Rows> summands;
  for (const auto& [rank, part] : parts_) summands.push_back(RowsOf(rank));
  OwnRows sum = Merge(summands, width_);
  const float share = 1 / static_cast<float>(parts_.size());
  if (mean) {
    for (float& value : sum.elements) value *= share;
  }
  return sum;
}

void Gathering::Release(uint32_t worker) {
  auto part = parts_.extract(worker);
  Give(std::move(part.mapped().bytes));
  buffers_.Give(std::exchange(sum_, {}));
}

void Gathering::Clear() {
  for (auto& [rank, part] : std::exchange(parts_, {})) {
    Give(std::move(part.bytes));
  }
  buffers_.Give(std::exchange(sum_, {}));
  added_ = 0;
}

}  // namespace mxc::kvstore
