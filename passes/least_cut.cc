// SPDX-License-Identifier: Apache-2.0
#include "passes/least_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/support/check.h"

namespace mxc {

int LeastCut::AddQuestion() {
  edges_of_.emplace_back();
  return static_cast<int>(edges_of_.size()) - 3;
}

void LeastCut::Price(int question, double no, double yes) {
  const int node = question + 2;
  const int64_t of_no = Picoseconds(no), of_yes = Picoseconds(yes);
  const int64_t both = std::min(of_no, of_yes);
  if (of_yes > both) Connect(kNo, node, of_yes - both, 0);
  if (of_no > both) Connect(node, kYes, of_no - both, 0);
}

void LeastCut::PriceDifference(int a, int b, double seconds) {
  const int64_t price = Picoseconds(seconds);
  if (a != b && price > 0) Connect(a + 2, b + 2, price, price);
}

int64_t LeastCut::Picoseconds(double seconds) {
  MXC_CHECK(seconds >= 0, "a price of {} s", seconds);
  return std::llround(std::min(seconds, kNever) * 1e12);
}

void LeastCut::Connect(int from, int to, int64_t room, int64_t back) {
  edges_of_[from].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, room});
  edges_of_[to].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, back});
}

// Dinic's algorithm: as much as fits goes along the shortest ways, until none is
// left.
std::vector<bool> LeastCut::Answers() {
  while (FindDistances()) Fill();
  // No: all that cannot reach the sink.
  std::vector<bool> yes(edges_of_.size(), false);
  std::vector<int> reached = {kYes};
  yes[kYes] = true;
  while (!reached.empty()) {
    const int node = reached.back();
    reached.pop_back();
    for (const int edge : edges_of_[node]) {
      const int from = edges_[edge].to;
      if (yes[from] || edges_[edge ^ 1].room == 0) continue;
      yes[from] = true;
      reached.push_back(from);
    }
  }
  return {yes.begin() + 2, yes.end()};
}

bool LeastCut::FindDistances() {
  distance_.assign(edges_of_.size(), -1);
  distance_[kNo] = 0;
  std::vector<int> queue = {kNo};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const int edge : edges_of_[queue[i]]) {
      const auto& [to, room] = edges_[edge];
      if (room == 0 || distance_[to] >= 0) continue;
      distance_[to] = distance_[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  return distance_[kYes] >= 0;
}

void LeastCut::Fill() {
  next_.assign(edges_of_.size(), 0);
  std::vector<int> path;  // edges
  for (int node = kNo;;) {
    if (node == kYes) {
      Push(path);
      node = path.empty() ? kNo : edges_[path.back()].to;
      continue;
    }
    const int edge = AdmissibleEdge(node);
    if (edge >= 0) {
      path.push_back(edge);
      node = edges_[edge].to;
    } else if (path.empty()) {
      return;
    } else {
      distance_[node] = -1;  // a dead end
      node = edges_[path.back() ^ 1].to;
      path.pop_back();
    }
  }
}

int LeastCut::AdmissibleEdge(int from) {
  for (size_t& i = next_[from]; i < edges_of_[from].size(); ++i) {
    const int edge = edges_of_[from][i];
    const auto& [to, room] = edges_[edge];
    if (room > 0 && distance_[to] == distance_[from] + 1) return edge;
  }
  return -1;
}

// As much as the path takes; what is left of it leads to its first full edge.
void LeastCut::Push(std::vector<int>& path) {
  int64_t most = std::numeric_limits<int64_t>::max();
  for (const int edge : path) most = std::min(most, edges_[edge].room);
  size_t full = path.size();
  for (size_t i = path.size(); i-- > 0;) {
    edges_[path[i]].room -= most;
    edges_[path[i] ^ 1].room += most;
    if (edges_[path[i]].room == 0) full = i;
  }
  path.resize(full);
}

}  // namespace mxc
