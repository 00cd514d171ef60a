// SPDX-License-Identifier: Apache-2.0
// What the workers of a job exchange who each own some of the same values, cut
// so that none is ever far ahead of the others: in a round all of them exchange a
// little of what each owns.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mxc::kvstore {

struct Round {
  // Values that one worker owns, where they lie in this process.
  struct Piece {
    std::span<float> values;
    // Of the ring (gloo/ring.h) in whose order a sum adds them up.
    uint32_t chunk = 0;
    // Null, or what the squares of this worker's own values are added to before
    // they become sums.
    double* squares = nullptr;
  };

  // By owner. All workers have the same, but for where they lie.
  std::vector<std::vector<Piece>> of;

  uint64_t ElementsOf(uint32_t owner) const;
};

class RoundBuilder {
 public:
  explicit RoundBuilder(uint32_t workers)
      : workers_(workers), full_(workers), last_(workers) {}

  void Add(uint32_t owner, Round::Piece piece);
  std::vector<Round> Take() { return std::move(rounds_); }

 private:
  const uint32_t workers_;
  std::vector<uint64_t> full_;  // by owner: elements in its last round
  std::vector<size_t> last_;    // by owner: which one that is
  std::vector<Round> rounds_;
};

}  // namespace mxc::kvstore
