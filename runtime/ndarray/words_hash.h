// SPDX-License-Identifier: Apache-2.0
// Keys that are lists of numbers, in tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxc::runtime {

struct WordsHash {
  size_t operator()(const std::vector<uint64_t>& words) const {
    uint64_t hash = words.size();
    for (const uint64_t word : words) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

}  // namespace mxc::runtime
