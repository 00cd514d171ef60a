// SPDX-License-Identifier: Apache-2.0
#include "tools/arena_sharers.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

namespace mxc {
namespace {

// The bytes of one arena: the host's, or that of the steps' place.
class ByteRanges {
 public:
  ByteRanges(const Overview& overview, bool on_host) : overview_(overview) {
    for (size_t i = 0; i < overview.buffers.size(); ++i) {
      const BufferRow& row = overview.buffers[i];
      if (!row.in_arena() || row.on_host != on_host || row.bytes <= 0) continue;
      by_begin_.push_back(static_cast<int>(i));
      ends_.push_back(EndOf(by_begin_.back()));
    }
    std::ranges::stable_sort(by_begin_, {}, [&](int b) { return BeginOf(b); });
    std::ranges::sort(ends_);
  }

  void AddTo(std::vector<ArenaSharers>& sharers) const {
    std::set<int> open;  // ranges that begin before and end behind a place
    using End = std::pair<int64_t, int>;
    std::priority_queue<End, std::vector<End>, std::greater<>> next_ends;
    for (size_t k = 0; k < by_begin_.size(); ++k) {
      const int buffer = by_begin_[k];
      while (!next_ends.empty() && next_ends.top().first <= BeginOf(buffer)) {
        open.erase(next_ends.top().second);
        next_ends.pop();
      }
      List(k, open, sharers[static_cast<size_t>(buffer)]);
      open.insert(buffer);
      next_ends.emplace(EndOf(buffer), buffer);
    }
  }

 private:
  int64_t BeginOf(int buffer) const {
    return overview_.buffers[static_cast<size_t>(buffer)].offset;
  }
  int64_t EndOf(int buffer) const {
    return BeginOf(buffer) +
           overview_.buffers[static_cast<size_t>(buffer)].bytes;
  }

  void List(size_t k, const std::set<int>& open, ArenaSharers& of) const {
    const int64_t begin = BeginOf(by_begin_[k]), end = EndOf(by_begin_[k]);
    const size_t before = of.buffers.size();
    for (const int buffer : open) {
      if (of.buffers.size() == before + kMostSharersListed) break;
      of.buffers.push_back(buffer);
    }
    const size_t most = of.buffers.size() + kMostSharersListed;
    for (size_t next = k + 1;
         next < by_begin_.size() && BeginOf(by_begin_[next]) < end &&
         of.buffers.size() < most;
         ++next) {
      of.buffers.push_back(by_begin_[next]);
    }
    // All but those that end before it or begin behind it, and itself.
    const auto ended = std::ranges::upper_bound(ends_, begin) - ends_.begin();
    const auto begun =
        std::ranges::lower_bound(by_begin_, end, {},
                                 [&](int buffer) { return BeginOf(buffer); }) -
        by_begin_.begin();
    of.more +=
        static_cast<size_t>(begun - ended - 1) - (of.buffers.size() - before);
  }

  const Overview& overview_;
  std::vector<int> by_begin_;  // buffers
  std::vector<int64_t> ends_;  // sorted
};

}  // namespace

std::vector<ArenaSharers> SharersOf(const Overview& overview) {
  std::vector<ArenaSharers> sharers(overview.buffers.size());
  for (size_t i = 0; i < overview.buffers.size(); ++i) {
    const BufferRow& row = overview.buffers[i];
    if (row.kind != "alias" || !overview.buffers[row.root].in_arena()) continue;
    ArenaSharers& of = sharers[static_cast<size_t>(row.root)];
    if (of.buffers.size() < kMostSharersListed) {
      of.buffers.push_back(static_cast<int>(i));
    } else {
      ++of.more;
    }
  }
  for (const bool on_host : {false, true}) {
    ByteRanges(overview, on_host).AddTo(sharers);
  }
  for (ArenaSharers& of : sharers) std::ranges::sort(of.buffers);
  return sharers;
}

}  // namespace mxc
