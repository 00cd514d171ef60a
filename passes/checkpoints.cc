// SPDX-License-Identifier: Apache-2.0
#include "passes/checkpoints.h"

#include <algorithm>
#include <cmath>

namespace mxc {
namespace {

// The forward steps in order, and what they hand on.
class Boundaries {
 public:
  Boundaries(const Program& program, const ForwardPart& part,
             const EvictionCosts& costs)
      : first_(program.buffers.size(), -1), last_(first_), read_(first_) {
    double time = 0;
    for (int s = 0; s < part.steps(); ++s) {
      for (const int b : program.steps[s].inputs) {
        if (costs.evictable[costs.root[b]]) read_[costs.root[b]] = s;
      }
      if (!part.forward(s)) continue;
      const auto at = static_cast<int>(ends_.size());
      time += costs.seconds[s];
      ends_.push_back(time);
      for (const int b : program.steps[s].outputs) {
        const int root = costs.root[b];
        if (part.Made(b) && first_[root] < 0) first_[root] = at;
      }
      for (const int b : program.steps[s].inputs) last_[costs.root[b]] = at;
    }
    CountBytes(program);
  }

  // The steps after which parts end.
  std::vector<int> Cut(int parts) const {
    std::vector<int> cuts;
    const double length = ends_.empty() ? 0 : ends_.back() / parts;
    for (int i = 1; i < parts; ++i) {
      const double middle = i * length;
      const auto from = std::ranges::lower_bound(ends_, middle - length / 2);
      const auto to = std::ranges::lower_bound(ends_, middle + length / 2);
      int best = -1;
      for (auto at = from; at < to; ++at) {
        const auto step = static_cast<int>(at - ends_.begin());
        const auto worth = [&](int s) {
          return std::pair(bytes_[s], std::abs(ends_[s] - middle));
        };
        if (best < 0 || worth(step) < worth(best)) best = step;
      }
      if (best >= 0) cuts.push_back(best);
    }
    return cuts;
  }

  int last() const { return static_cast<int>(ends_.size()) - 1; }
  // The last step that reads what was made after one cut and not after the next.
  int LastRead(int cut, int next) const {
    int step = -1;
    for (size_t b = 0; b < first_.size(); ++b) {
      if (first_[b] > cut && first_[b] <= next) step = std::max(step, read_[b]);
    }
    return step;
  }

  bool Crosses(int root, int cut) const {
    return first_[root] >= 0 && first_[root] <= cut && last_[root] > cut;
  }

 private:
  void CountBytes(const Program& program) {
    std::vector<int64_t> change(ends_.size() + 1, 0);
    for (size_t b = 0; b < first_.size(); ++b) {
      if (first_[b] < 0 || last_[b] <= first_[b]) continue;
      change[first_[b]] += program.buffers[b].bytes();
      change[last_[b]] -= program.buffers[b].bytes();
    }
    int64_t bytes = 0;
    for (size_t s = 0; s < ends_.size(); ++s) {
      bytes += change[s];
      bytes_.push_back(bytes);
    }
  }

  // By root, counted in forward steps: which makes it, which reads it last.
  std::vector<int> first_, last_;
  std::vector<int> read_;       // by root that can be dropped: its last reader
  std::vector<double> ends_;    // seconds, by forward step
  std::vector<int64_t> bytes_;  // that cross the end of a forward step
};

}  // namespace

std::vector<int> Checkpoints(const Program& program, const ForwardPart& part,
                             const EvictionCosts& costs, int parts) {
  const Boundaries boundaries(program, part, costs);
  const std::vector<int> cuts = boundaries.Cut(parts);
  std::vector<int> held(program.buffers.size(), -1);
  for (size_t i = 0; i < cuts.size(); ++i) {
    const int end = i + 1 < cuts.size() ? cuts[i + 1] : boundaries.last();
    const int until = boundaries.LastRead(cuts[i], end);
    for (size_t b = 0; b < held.size(); ++b) {
      if (!boundaries.Crosses(static_cast<int>(b), cuts[i])) continue;
      held[b] = std::max(held[b], until);
    }
  }
  return held;
}

}  // namespace mxc
