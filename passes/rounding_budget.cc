// SPDX-License-Identifier: Apache-2.0
#include "passes/rounding_budget.h"

#include <algorithm>
#include <limits>

namespace mxc {
namespace {

// The way through the program that adds most.
struct Path {
  double rounding = 0;
  std::vector<int> steps;
};

Path LongestPath(const Program& program, std::span<const double> added) {
  struct Reached {
    double rounding = 0;
    int step = -1;  // that wrote the buffer
  };
  std::vector<Reached> reached(program.buffers.size());
  std::vector<int> before(program.steps.size(), -1);
  Reached last;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    Reached here;
    for (const int input : step.inputs) {
      if (reached[input].rounding > here.rounding) here = reached[input];
    }
    before[s] = here.step;
    here = {here.rounding + added[s], static_cast<int>(s)};
    for (const int output : step.outputs) reached[output] = here;
    if (here.rounding > last.rounding) last = here;
  }
  Path path = {last.rounding, {}};
  for (int s = last.step; s >= 0; s = before[s]) path.steps.push_back(s);
  return path;
}

}  // namespace

std::vector<double> RoundingLimits(
    const Program& program, std::span<const std::vector<RoundedKernel>> kernels,
    double budget) {
  std::vector<size_t> taken(kernels.size(), 0);
  std::vector<double> added(kernels.size(), 0);
  const auto take = [&](size_t s, size_t kernel) {
    taken[s] = kernel;
    added[s] = kernels[s][kernel].rounding;
  };
  for (size_t s = 0; s < kernels.size(); ++s) {
    if (!kernels[s].empty()) take(s, 0);
  }
  // Seconds for what the step's next kernel saves.
  const auto price = [&](int s) {
    const auto& [from, to] =
        std::pair(kernels[s][taken[s]], kernels[s][taken[s] + 1]);
    return (to.seconds - from.seconds) / (from.rounding - to.rounding);
  };
  while (true) {
    Path path = LongestPath(program, added);
    if (path.rounding <= budget) break;
    std::erase_if(path.steps,
                  [&](int s) { return taken[s] + 1 >= kernels[s].size(); });
    if (path.steps.empty()) break;
    const int best = *std::ranges::min_element(path.steps, {}, price);
    take(static_cast<size_t>(best), taken[best] + 1);
  }
  std::vector<double> limits;
  for (size_t s = 0; s < kernels.size(); ++s) {
    limits.push_back(kernels[s].empty()
                         ? std::numeric_limits<double>::infinity()
                         : added[s]);
  }
  return limits;
}

}  // namespace mxc
