// SPDX-License-Identifier: Apache-2.0
// Where a chain is cut: no other cut has a faster slowest stage.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "passes/stage_cut.h"

namespace mxc {
namespace {

double Slowest(const StageCosts& costs, std::vector<int> firsts) {
  const auto count = static_cast<int>(costs.nodes.size());
  const auto cut = [&](int at) {
    return at == 0 || at == count ? 0 : costs.cuts[static_cast<size_t>(at)];
  };
  firsts.push_back(count);
  double slowest = 0;
  for (size_t stage = 0; stage + 1 < firsts.size(); ++stage) {
    const int begin = firsts[stage], end = firsts[stage + 1];
    slowest = std::max(slowest, std::accumulate(costs.nodes.begin() + begin,
                                                costs.nodes.begin() + end,
                                                cut(begin) + cut(end)));
  }
  return slowest;
}

// Of all cuts, one after the other.
double LeastSlowest(const StageCosts& costs, std::vector<int> firsts,
                    int stages) {
  if (stages == 0) return Slowest(costs, firsts);
  double least = std::numeric_limits<double>::infinity();
  const int from = firsts.empty() ? 0 : firsts.back() + 1;
  const int to = firsts.empty() ? 1 : static_cast<int>(costs.nodes.size());
  for (int first = from; first < to; ++first) {
    std::vector<int> more = firsts;
    more.push_back(first);
    least = std::min(least, LeastSlowest(costs, more, stages - 1));
  }
  return least;
}

}  // namespace

TEST_CASE("no cut has a faster slowest stage") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    StageCosts costs;
    const int count = 1 + static_cast<int>(random() % 9);
    for (int i = 0; i < count; ++i) {
      costs.nodes.push_back(random() % 100);
      costs.cuts.push_back(random() % 30);
    }
    const int stages = 1 + static_cast<int>(random() % count);
    const std::vector<int> firsts = CutIntoStages(costs, stages);
    REQUIRE(static_cast<int>(firsts.size()) == stages);
    CHECK(firsts.front() == 0);
    CHECK(std::ranges::adjacent_find(firsts, std::greater_equal()) ==
          firsts.end());
    CHECK(Slowest(costs, firsts) == LeastSlowest(costs, {}, stages));
  }
}

TEST_CASE("a cut where little crosses, if that is worth it") {
  // The even cut takes 4 s and 3 for what crosses, that behind a node 6.1.
  const StageCosts costs = {.nodes = {2, 2, 2, 2}, .cuts = {0, 0.1, 3, 0.1}};
  CHECK(CutIntoStages(costs, 2) == std::vector<int>{0, 1});
}

}  // namespace mxc
