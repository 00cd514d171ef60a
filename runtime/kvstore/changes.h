// SPDX-License-Identifier: Apache-2.0
// Which rows of a sparse key its last updates have changed, so that who has an
// earlier value needs these alone.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace mxc::kvstore {

class Changes {
 public:
  // Of how many rows it keeps the numbers: beyond as many as the key has, the
  // whole value is smaller.
  explicit Changes(uint64_t most) : most_(most) {}

  // An update has changed these rows, which are merged.
  void Add(std::span<const uint64_t> numbers);
  // Rows that the last so many updates have changed, each once and ascending;
  // nothing: it is not known of so many.
  std::optional<std::vector<uint64_t>> OfLast(uint64_t updates) const;

 private:
  uint64_t most_;
  uint64_t kept_ = 0;                          // numbers, and empty updates
  std::deque<std::vector<uint64_t>> updates_;  // the last ones, in order
};

}  // namespace mxc::kvstore
