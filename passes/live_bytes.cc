// SPDX-License-Identifier: Apache-2.0
#include "passes/live_bytes.h"

#include <algorithm>
#include <bit>

namespace mxc {

LiveBytes::LiveBytes(int moments)
    : moments_(static_cast<int>(
          std::bit_ceil(static_cast<unsigned>(std::max(moments, 1))))),
      nodes_(2 * static_cast<size_t>(moments_)) {}

void LiveBytes::Add(int first, int last, int64_t bytes) {
  Add(1, 0, moments_, first, last, bytes);
}

// The node stands for the moments from `begin` to before `end`.
void LiveBytes::Add(size_t node, int begin, int end, int first, int last,
                    int64_t bytes) {
  if (last < begin || end <= first) return;
  if (first <= begin && end - 1 <= last) {
    nodes_[node].added += bytes;
    nodes_[node].largest += bytes;
    return;
  }
  const int middle = begin + (end - begin) / 2;
  Add(2 * node, begin, middle, first, last, bytes);
  Add(2 * node + 1, middle, end, first, last, bytes);
  nodes_[node].largest =
      nodes_[node].added +
      std::max(nodes_[2 * node].largest, nodes_[2 * node + 1].largest);
}

}  // namespace mxc
