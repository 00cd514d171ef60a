// SPDX-License-Identifier: Apache-2.0
#include "passes/placement_in_time.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace mxc {
namespace {

// The bytes that are free, as an allocator keeps them.
class FreeBytes {
 public:
  // Where `bytes` lie from now on: in the tightest gap, the lowest of equals.
  int64_t Take(int64_t bytes) {
    const auto gap = by_size_.lower_bound({bytes, 0});
    if (gap == by_size_.end()) {
      const int64_t offset = end_;
      end_ += bytes;
      peak_ = std::max(peak_, end_);
      return offset;
    }
    const auto [size, offset] = *gap;
    Erase(offset, size);
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }

  void GiveBack(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      Erase(offset + bytes - next->second, next->second);
      next = by_offset_.lower_bound(offset);
    }
    if (next != by_offset_.begin()) {
      const auto [below, size] = *std::prev(next);
      if (below + size == offset) {
        Erase(below, size);
        offset = below;
        bytes += size;
      }
    }
    if (offset + bytes == end_) {
      end_ = offset;
    } else {
      Insert(offset, bytes);
    }
  }

  int64_t peak() const { return peak_; }

 private:
  void Insert(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Erase(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0, peak_ = 0;  // nothing lies from `end_` on
};

}  // namespace

Placement PlaceInTime(std::span<const Block> blocks, int64_t alignment) {
  Placement placement{std::vector<int64_t>(blocks.size(), 0), 0};
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t b) {
    return std::pair(blocks[b].first, -blocks[b].bytes);
  });
  const auto rounded = [&](size_t b) {
    return (blocks[b].bytes + alignment - 1) / alignment * alignment;
  };
  FreeBytes free;
  std::set<std::pair<int, size_t>> ending;  // last moment, block
  for (const size_t b : order) {
    while (!ending.empty() && ending.begin()->first < blocks[b].first) {
      const size_t ended = ending.begin()->second;
      free.GiveBack(placement.offsets[ended], rounded(ended));
      ending.erase(ending.begin());
    }
    if (blocks[b].bytes == 0) continue;
    placement.offsets[b] = free.Take(rounded(b));
    ending.emplace(blocks[b].last, b);
  }
  placement.peak = free.peak();
  return placement;
}

}  // namespace mxc
