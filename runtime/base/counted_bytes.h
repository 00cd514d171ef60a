// SPDX-License-Identifier: Apache-2.0
// The bytes of a dense tensor that count, where of some axes the first entries alone
// do (mxc_set_lengths).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mxc::runtime {

// Of an axis of `most` entries the first `length`. It may hold sequences behind each
// other, or side by side: index i is of entry i / inner % most.
struct CountedAxis {
  int axis = 0;
  int64_t inner = 1;
  int64_t most = 1, length = 1;
};

class CountedBytes {
 public:
  // `axes` are different ones, in any order.
  CountedBytes(std::span<const int64_t> dims, std::span<const CountedAxis> axes,
               size_t element_bytes);

  size_t total() const { return counted_; }
  // From a tensor with all entries to a dense one of those that count, and back.
  void Gather(const std::byte* from, std::byte* to) const;
  void Scatter(const std::byte* from, std::byte* to) const;

 private:
  // `count` blocks that are so many bytes apart where all entries are, and where
  // those that count are.
  struct Loop {
    size_t count = 1, whole = 0, counted = 0;
  };

  void Add(int64_t most, int64_t count);
  template <class Copy>
  void Visit(size_t loop, size_t whole, size_t counted, const Copy& copy) const;

  size_t run_;  // bytes that follow each other in both
  size_t whole_, counted_;
  std::vector<Loop> loops_;  // the innermost one first
};

}  // namespace mxc::runtime
