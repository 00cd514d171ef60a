// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "passes/interval_placement.h"
#include "passes/live_bytes.h"

namespace mxc {
namespace {

std::vector<Block> RandomBlocks(std::mt19937& random, int count, int steps) {
  std::vector<Block> blocks;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % steps);
    const int length = static_cast<int>(random() % 5);
    const auto bytes = static_cast<int64_t>(random() % 8) * 64;
    blocks.push_back({bytes, first, std::min(first + length, steps - 1)});
  }
  return blocks;
}

bool Valid(const std::vector<Block>& blocks, const Placement& placement) {
  for (size_t a = 0; a < blocks.size(); ++a) {
    if (placement.offsets[a] % 64 != 0) return false;
    if (placement.offsets[a] + blocks[a].bytes > placement.peak) return false;
    for (size_t b = 0; b < a; ++b) {
      const bool together = blocks[a].first <= blocks[b].last &&
                            blocks[b].first <= blocks[a].last;
      const bool overlap =
          placement.offsets[a] < placement.offsets[b] + blocks[b].bytes &&
          placement.offsets[b] < placement.offsets[a] + blocks[a].bytes;
      if (together && overlap) return false;
    }
  }
  return true;
}

// Every order of placing each block as low as it goes: one of them is optimal.
int64_t BestPeak(const std::vector<Block>& blocks) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offset(blocks.size(), -1);
    int64_t peak = 0;
    for (const int b : order) {
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (const int o : order) {
        if (offset[o] < 0 || blocks[o].last < blocks[b].first ||
            blocks[b].last < blocks[o].first) {
          continue;
        }
        taken.emplace_back(offset[o], offset[o] + blocks[o].bytes);
      }
      std::sort(taken.begin(), taken.end());
      int64_t at = 0;
      for (const auto& [low, high] : taken) {
        if (low - at >= blocks[b].bytes) break;
        at = std::max(at, high);
      }
      offset[b] = at;
      peak = std::max(peak, at + blocks[b].bytes);
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST_CASE("the lower bound is the largest sum of live bytes") {
  const std::vector<Block> blocks = {{100, 0, 1}, {64, 1, 2}, {256, 2, 3}};
  CHECK(LargestLiveSum(blocks, 64) == 64 + 256);
  CHECK(LargestLiveSum({}, 64) == 0);
}

TEST_CASE("placements are valid, and as good as trying everything") {
  std::mt19937 random(3);
  int optimal = 0;
  constexpr int kPrograms = 60;
  for (int i = 0; i < kPrograms; ++i) {
    const std::vector<Block> blocks = RandomBlocks(random, 7, 8);
    const Placement placement = PlaceBlocks(blocks, 64);
    REQUIRE(Valid(blocks, placement));
    const int64_t best = BestPeak(blocks);
    CHECK(placement.peak >= best);
    optimal += placement.peak == best;
  }
  CHECK(optimal == kPrograms);
}

TEST_CASE("large random programs stay near the lower bound") {
  std::mt19937 random(5);
  for (int i = 0; i < 5; ++i) {
    const std::vector<Block> blocks = RandomBlocks(random, 300, 150);
    const Placement placement = PlaceBlocks(blocks, 64);
    REQUIRE(Valid(blocks, placement));
    const int64_t bound = LargestLiveSum(blocks, 64);
    CHECK(placement.peak >= bound);
    CHECK(static_cast<double>(placement.peak) <
          1.15 * static_cast<double>(bound));
    // The same blocks, the same offsets.
    CHECK(PlaceBlocks(blocks, 64).offsets == placement.offsets);
  }
}

// As a training step has them: what the forward part leaves is needed by the
// backward part in the opposite order, and each step has values of its own.
TEST_CASE("thousands of blocks that live at once lie next to each other") {
  constexpr int kLayers = 3000;
  std::mt19937 random(9);
  std::vector<Block> blocks;
  for (int i = 0; i < kLayers; ++i) {
    const auto bytes = static_cast<int64_t>(1 + random() % 8) * 64;
    blocks.push_back({bytes, i, 2 * kLayers - i});
    blocks.push_back({bytes, 2 * kLayers - i, 2 * kLayers - i + 1});
  }
  const Placement placement = PlaceBlocks(blocks, 64);
  REQUIRE(Valid(blocks, placement));
  CHECK(static_cast<double>(placement.peak) <
        1.01 * static_cast<double>(LargestLiveSum(blocks, 64)));
}

// The fullest moment, by adding up at every one.
TEST_CASE("live bytes are counted while ranges come, go and grow") {
  constexpr int kMoments = 37;
  std::mt19937 random(11);
  LiveBytes live(kMoments);
  std::vector<int64_t> at(kMoments, 0);
  for (int change = 0; change < 500; ++change) {
    const int first = static_cast<int>(random() % kMoments);
    const int last = first + static_cast<int>(random() % (kMoments - first));
    const int64_t bytes = static_cast<int64_t>(random() % 1000) - 300;
    live.Add(first, last, bytes);
    for (int moment = first; moment <= last; ++moment) at[moment] += bytes;
    // Moments beyond the last one count as empty.
    const int64_t largest = std::max<int64_t>(0, *std::ranges::max_element(at));
    REQUIRE(live.Largest() == largest);
  }
}

TEST_CASE("no blocks, empty blocks") {
  CHECK(PlaceBlocks({}, 64).peak == 0);
  const std::vector<Block> empty = {{0, 0, 3}, {0, 1, 2}};
  CHECK(PlaceBlocks(empty, 64).peak == 0);
}

}  // namespace
}  // namespace mxc
