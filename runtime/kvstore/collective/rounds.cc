// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/rounds.h"

#include <algorithm>

namespace mxc::kvstore {
namespace {

// Elements that come to an owner in a round, from all others together.
constexpr uint64_t kReceived = (uint64_t{4} << 20) / sizeof(float);

}  // namespace

uint64_t Round::ElementsOf(uint32_t owner) const {
  uint64_t elements = 0;
  for (const Piece& piece : of[owner]) elements += piece.values.size();
  return elements;
}

void RoundBuilder::Add(uint32_t owner, Round::Piece piece) {
  const uint64_t most =
      std::max<uint64_t>(1, kReceived / std::max<uint32_t>(1, workers_ - 1));
  while (!piece.values.empty()) {
    if (full_[owner] == most) {
      ++last_[owner];
      full_[owner] = 0;
    }
    while (rounds_.size() <= last_[owner])
      rounds_.emplace_back().of.resize(workers_);
    Round::Piece part = piece;
    part.values = piece.values.first(
        std::min<uint64_t>(piece.values.size(), most - full_[owner]));
    rounds_[last_[owner]].of[owner].push_back(part);
    full_[owner] += part.values.size();
    piece.values = piece.values.subspan(part.values.size());
  }
}

}  // namespace mxc::kvstore
