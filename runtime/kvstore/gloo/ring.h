// SPDX-License-Identifier: Apache-2.0
// In which order gloo's ring adds up, so that who sums otherwise can have the
// same bytes. The values are cut into a chunk for each worker. Chunk c begins at
// worker c-1, goes on to c-2, c-3 … c+1 and ends at c, numbers modulo the
// workers; whoever it reaches adds its own values.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mxc::kvstore {

// Bytes under way at once. Twice gloo's own: between segments two threads hand
// over to each other, which costs more than what larger ones overlap less.
inline constexpr uint64_t kRingSegment = uint64_t{2} << 20;

// Elements (float) of each chunk; the last ones may have fewer, or none.
inline uint64_t RingChunk(uint64_t elements, uint64_t workers) {
  const auto round_up = [](uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  const uint64_t bytes = elements * sizeof(float);
  // Segments of equal size, as many for each worker and at least two.
  const uint64_t segments =
      round_up(std::max((bytes + kRingSegment - 1) / kRingSegment, 2 * workers),
               workers);
  const uint64_t segment =
      round_up((bytes + segments - 1) / segments, sizeof(float));
  return segments / workers * segment / sizeof(float);
}

}  // namespace mxc::kvstore
