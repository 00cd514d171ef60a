// SPDX-License-Identifier: Apache-2.0
// How many bytes are alive at each moment, and at the fullest one, while
// buffers come, go and live longer: each change takes logarithmic time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxc {

class LiveBytes {
 public:
  explicit LiveBytes(int moments);

  // Bytes, which may be negative, from the first moment to the last.
  void Add(int first, int last, int64_t bytes);
  int64_t Largest() const { return nodes_[1].largest; }

 private:
  // A node of a binary tree over the moments.
  struct Node {
    int64_t added = 0;    // to all of its moments
    int64_t largest = 0;  // of its moments, without what its parents add
  };

  void Add(size_t node, int begin, int end, int first, int last, int64_t bytes);

  int moments_ = 1;  // a power of two
  std::vector<Node> nodes_;
};

}  // namespace mxc
