// SPDX-License-Identifier: Apache-2.0
#include "passes/stage_cut.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/support/check.h"

namespace mxc {

// Of the first `end` nodes in so many stages the least that the slowest can
// take, from one stage on.
std::vector<int> CutIntoStages(const StageCosts& costs, int stages) {
  const auto count = costs.nodes.size();
  MXC_CHECK(stages >= 1 && count >= static_cast<size_t>(stages) &&
            costs.cuts.size() == count);
  std::vector<double> before(count + 1, 0);
  std::partial_sum(costs.nodes.begin(), costs.nodes.end(), before.begin() + 1);
  const auto cut = [&](size_t at) {
    return at == 0 || at == count ? 0 : costs.cuts[at];
  };
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> slowest(count + 1, kNone);
  slowest[0] = 0;
  std::vector<std::vector<size_t>> begins;  // of the last stage, by end
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<double> next(count + 1, kNone);
    std::vector<size_t>& begin_of = begins.emplace_back(count + 1, 0);
    for (size_t end = 1; end <= count; ++end) {
      for (size_t begin = 0; begin < end; ++begin) {
        const double own = before[end] - before[begin] + cut(begin) + cut(end);
        const double most = std::max(slowest[begin], own);
        if (most >= next[end]) continue;
        next[end] = most;
        begin_of[end] = begin;
      }
    }
    slowest = std::move(next);
  }
  std::vector<int> firsts(static_cast<size_t>(stages));
  size_t end = count;
  for (int stage = stages - 1; stage >= 0; --stage) {
    end = begins[static_cast<size_t>(stage)][end];
    firsts[static_cast<size_t>(stage)] = static_cast<int>(end);
  }
  return firsts;
}

}  // namespace mxc
