// SPDX-License-Identifier: Apache-2.0
#include "tools/drawing_columns.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace mxc {
namespace {

constexpr int kColumnHeight = 44;  // operators one below the other

// For each position the number of values that cross it, large where it would
// cut a step in two.
std::vector<int> CountCrossings(
    const std::vector<const Node*>& drawn,
    const std::map<const Node*, int>& position,
    const std::map<int, std::vector<const Node*>>& members) {
  constexpr int kNever = 1000;
  std::vector<int> crossing(drawn.size() + 1, 0);
  const auto add = [&](int first, int last, int count) {
    for (int i = first + 1; i <= last; ++i) crossing[i] += count;
  };
  for (const Node* node : drawn) {
    for (const Value& input : node->inputs) {
      const auto from = position.find(input.node);
      if (from != position.end()) add(from->second, position.at(node), 1);
    }
  }
  for (const auto& [step, nodes] : members) {
    add(position.at(nodes.front()), position.at(nodes.back()), kNever);
  }
  return crossing;
}

// Nodes on the longest path.
int Depth(const std::vector<const Node*>& drawn) {
  std::map<const Node*, int> depth;
  int deepest = 0;
  for (const Node* node : drawn) {
    int& own = depth[node];
    for (const Value& input : node->inputs) {
      const auto above = depth.find(input.node);
      if (above != depth.end()) own = std::max(own, above->second + 1);
    }
    deepest = std::max(deepest, own + 1);
  }
  return deepest;
}

// Where to end a column that should end at `wish`, up to `slack` away.
int BestCut(const std::vector<int>& crossing, int wish, int begin, int slack) {
  const int end = std::min(wish + slack, static_cast<int>(crossing.size()) - 2);
  int best = wish;
  double best_cost = 1e9;
  for (int i = std::max(begin + 1, wish - slack); i <= end; ++i) {
    const double cost = crossing[i] + 2.0 * std::abs(i - wish) / (slack + 1);
    if (cost < best_cost) best = i, best_cost = cost;
  }
  return best;
}

}  // namespace

std::map<const Node*, int> ColumnsOf(
    const std::vector<const Node*>& drawn,
    const std::map<int, std::vector<const Node*>>& members) {
  std::map<const Node*, int> position, columns;
  for (const Node* node : drawn) {
    position.emplace(node, static_cast<int>(position.size()));
  }
  const std::vector<int> crossing = CountCrossings(drawn, position, members);
  const int total = static_cast<int>(drawn.size());
  const int count = (Depth(drawn) + kColumnHeight - 1) / kColumnHeight;
  const int slack = total / std::max(1, count) / 3;
  int begin = 0;
  for (int c = 0; c < count; ++c) {
    const int wish = static_cast<int>(int64_t{total} * (c + 1) / count);
    const int end =
        c + 1 == count ? total : BestCut(crossing, wish, begin, slack);
    for (int i = begin; i < end; ++i) columns[drawn[i]] = c;
    begin = end;
  }
  return columns;
}

}  // namespace mxc
