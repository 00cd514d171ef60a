// SPDX-License-Identifier: Apache-2.0
#include "passes/interval_placement.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "ir/support/division.h"
#include "passes/placement_in_time.h"

namespace mxc {
namespace {

// Rounds of the local search. Each places every block anew; with many blocks
// alive together there are fewer, so that planning stays under a second.
constexpr int64_t kSearchRounds = 400;
constexpr int64_t kSearchWork = 20'000'000;  // conflicts looked at

// With more pairs of blocks that live at once, as of training steps of tens of
// thousands of steps, looking at them all takes too long: see PlaceInTime.
constexpr size_t kMostConflicts = 4'000'000;

enum class Fit { kLowest, kTightest };

// Places blocks one after the other, each into a gap between those that are
// already placed and alive at the same time.
class Placer {
 public:
  Placer(std::span<const Block> blocks, int64_t alignment)
      : blocks_(blocks.begin(), blocks.end()), conflicts_(blocks.size()) {
    for (Block& block : blocks_) block.bytes = RoundUp(block.bytes, alignment);
    std::vector<int> order(blocks_.size()), alive;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&](int b) { return blocks_[b].first; });
    for (const int b : order) {
      std::erase_if(alive, [&](int other) {
        return blocks_[other].last < blocks_[b].first;
      });
      for (const int other : alive) {
        conflicts_[b].push_back(other);
        conflicts_[other].push_back(b);
      }
      alive.push_back(b);
    }
  }

  const std::vector<Block>& blocks() const { return blocks_; }
  int64_t conflicts() const {
    int64_t count = 1;
    for (const auto& others : conflicts_) {
      count += static_cast<int64_t>(others.size());
    }
    return count;
  }

  Placement Place(const std::vector<int>& order, Fit fit) {
    Placement placement{std::vector<int64_t>(blocks_.size(), 0), 0};
    placed_.assign(blocks_.size(), false);
    for (const int block : order) {
      const int64_t offset = FindGap(block, placement.offsets, fit);
      placement.offsets[block] = offset;
      placed_[block] = true;
      placement.peak = std::max(placement.peak, offset + blocks_[block].bytes);
    }
    return placement;
  }

 private:
  int64_t FindGap(int block, const std::vector<int64_t>& offsets, Fit fit) {
    const int64_t bytes = blocks_[block].bytes;
    if (bytes == 0) return 0;
    taken_.clear();
    for (const int other : conflicts_[block]) {
      if (placed_[other] && blocks_[other].bytes > 0) {
        taken_.emplace_back(offsets[other],
                            offsets[other] + blocks_[other].bytes);
      }
    }
    std::sort(taken_.begin(), taken_.end());
    int64_t best = -1, best_gap = 0, end = 0;
    for (const auto& [low, high] : taken_) {
      const int64_t gap = low - end;
      if (gap >= bytes && (best < 0 || gap < best_gap)) {
        best = end;
        best_gap = gap;
        if (fit == Fit::kLowest) return best;
      }
      end = std::max(end, high);
    }
    return best >= 0 ? best : end;
  }

  std::vector<Block> blocks_;
  std::vector<std::vector<int>> conflicts_;
  std::vector<bool> placed_;
  std::vector<std::pair<int64_t, int64_t>> taken_;
};

using Before = std::function<bool(const Block&, const Block&)>;

std::vector<int> Sorted(const std::vector<Block>& blocks,
                        const Before& before) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return before(blocks[a], blocks[b]); });
  return order;
}

// By size, by lifetime, by their product, by start, by the load at the time.
std::vector<std::vector<int>> GreedyOrders(const std::vector<Block>& blocks) {
  const auto life = [](const Block& b) { return b.last - b.first + 1; };
  std::vector<std::vector<int>> orders;
  orders.push_back(Sorted(blocks, [](const Block& a, const Block& b) {
    return a.bytes > b.bytes;
  }));
  orders.push_back(Sorted(blocks, [&](const Block& a, const Block& b) {
    return std::pair(life(a), a.bytes) > std::pair(life(b), b.bytes);
  }));
  orders.push_back(Sorted(blocks, [&](const Block& a, const Block& b) {
    return a.bytes * life(a) > b.bytes * life(b);
  }));
  orders.push_back(Sorted(blocks, [](const Block& a, const Block& b) {
    return std::pair(a.first, -a.bytes) < std::pair(b.first, -b.bytes);
  }));
  orders.push_back(Sorted(blocks, [](const Block& a, const Block& b) {
    return std::pair(a.last, a.bytes) > std::pair(b.last, b.bytes);
  }));
  return orders;
}

// The sum of bytes alive at each moment from 0 on.
std::vector<int64_t> LoadOverTime(const std::vector<Block>& blocks) {
  int end = 0;
  for (const Block& block : blocks) end = std::max(end, block.last + 1);
  std::vector<int64_t> load(static_cast<size_t>(end) + 1, 0);
  for (const Block& block : blocks) {
    load[block.first] += block.bytes;
    load[block.last + 1] -= block.bytes;
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  return load;
}

// Blocks alive at the fullest moments first: they can be stacked without gaps
// and the others fit around them.
std::vector<int> ByLoad(const std::vector<Block>& blocks) {
  const std::vector<int64_t> over_time = LoadOverTime(blocks);
  std::vector<int64_t> load;
  for (const Block& block : blocks) {
    load.push_back(*std::max_element(over_time.begin() + block.first,
                                     over_time.begin() + block.last + 1));
  }
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(load[a], blocks[a].bytes) >
           std::pair(load[b], blocks[b].bytes);
  });
  return order;
}

struct Attempt {
  std::vector<int> order;
  Fit fit = Fit::kLowest;
  Placement placement;
};

// Moves a block that reaches the peak to an earlier place in the order, again
// and again; keeps what is no worse.
void Improve(Placer& placer, int64_t lower_bound, Attempt& best) {
  std::mt19937 random(1);
  Attempt current = best;
  const int64_t rounds =
      std::min(kSearchRounds, kSearchWork / placer.conflicts());
  for (int64_t round = 0; round < rounds; ++round) {
    if (best.placement.peak <= lower_bound) return;
    std::vector<int> highest;  // positions in the order
    for (size_t p = 0; p < current.order.size(); ++p) {
      const int block = current.order[p];
      if (current.placement.offsets[block] + placer.blocks()[block].bytes ==
          current.placement.peak) {
        highest.push_back(static_cast<int>(p));
      }
    }
    const int from = highest[random() % highest.size()];
    const int to = from == 0 ? static_cast<int>(random() % current.order.size())
                             : static_cast<int>(random() % from);
    Attempt next = current;
    const int block = next.order[from];
    next.order.erase(next.order.begin() + from);
    next.order.insert(next.order.begin() + to, block);
    next.placement = placer.Place(next.order, next.fit);
    if (next.placement.peak > current.placement.peak && round % 16 != 0) {
      continue;
    }
    current = std::move(next);
    if (current.placement.peak < best.placement.peak) best = current;
  }
}

}  // namespace

int64_t LargestLiveSum(std::span<const Block> blocks, int64_t alignment) {
  std::vector<std::pair<int, int64_t>> events;
  for (const Block& block : blocks) {
    const int64_t bytes = RoundUp(block.bytes, alignment);
    events.emplace_back(block.first, bytes);
    events.emplace_back(block.last + 1, -bytes);
  }
  std::sort(events.begin(), events.end());  // what ends goes before what starts
  int64_t sum = 0, largest = 0;
  for (const auto& [time, bytes] : events) {
    sum += bytes;
    largest = std::max(largest, sum);
  }
  return largest;
}

namespace {

// Returns whether more pairs than `most` live at once.
bool HaveMoreConflicts(std::span<const Block> blocks, size_t most) {
  std::vector<int> starts, ends;
  for (const Block& block : blocks) {
    starts.push_back(block.first);
    ends.push_back(block.last);
  }
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  size_t pairs = 0, ended = 0;
  for (size_t started = 0; started < starts.size(); ++started) {
    while (ends[ended] < starts[started]) ++ended;
    pairs += started - ended;
    if (pairs > most) return true;
  }
  return false;
}

}  // namespace

Placement PlaceBlocks(std::span<const Block> blocks, int64_t alignment) {
  if (HaveMoreConflicts(blocks, kMostConflicts)) {
    return PlaceInTime(blocks, alignment);
  }
  Placer placer(blocks, alignment);
  const int64_t lower_bound = LargestLiveSum(blocks, alignment);
  std::vector<std::vector<int>> orders = GreedyOrders(placer.blocks());
  orders.push_back(ByLoad(placer.blocks()));

  std::vector<Attempt> attempts;
  for (const std::vector<int>& order : orders) {
    for (const Fit fit : {Fit::kLowest, Fit::kTightest}) {
      Attempt attempt{order, fit, placer.Place(order, fit)};
      if (attempt.placement.peak <= lower_bound) return attempt.placement;
      attempts.push_back(std::move(attempt));
    }
  }
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const Attempt& a, const Attempt& b) {
                     return a.placement.peak < b.placement.peak;
                   });
  attempts.resize(3);
  for (Attempt& attempt : attempts) Improve(placer, lower_bound, attempt);
  return std::min_element(attempts.begin(), attempts.end(),
                          [](const Attempt& a, const Attempt& b) {
                            return a.placement.peak < b.placement.peak;
                          })
      ->placement;
}

}  // namespace mxc
