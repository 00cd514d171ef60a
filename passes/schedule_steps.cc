// SPDX-License-Identifier: Apache-2.0
// schedule-steps: the steps run in the order that needs the least memory, of
// those tried that respect the dependencies.
//
//   a1 a2 a3 b1 b2 b3 c      a1 a2 b1 …       A branch whose result is small
//   ▁▃▆█ wide results   ⇒    ▁▃▅              runs before one whose result is
//   all alive                                 large; what is read once is
//                                             computed just before.
//
// Tried: the order as it came; depth first from the outputs, operands by size
// either way; greedily, the step that leaves least alive first. The given order
// stays unless another is better.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "passes/passes.h"
#include "passes/schedule.h"

namespace mxc {
namespace {

// Each step after those that it waits for, these in the order of `before`.
Order DepthFirst(const Schedule& schedule,
                 const std::function<bool(int, int)>& before) {
  Order order;
  std::vector<bool> seen(schedule.size(), false);
  std::vector<std::pair<int, std::vector<int>>>
      stack;  // step, writers to visit
  const auto push = [&](int step) {
    seen[step] = true;
    std::vector<int> writers = schedule.before(step);
    std::ranges::stable_sort(writers,
                             [&](int a, int b) { return before(b, a); });
    stack.emplace_back(step, std::move(writers));
  };
  for (int s = 0; s < static_cast<int>(schedule.size()); ++s) {
    if (seen[s]) continue;
    push(s);
    while (!stack.empty()) {
      auto& [step, writers] = stack.back();
      if (writers.empty()) {
        order.push_back(step);
        stack.pop_back();
        continue;
      }
      const int next = writers.back();
      writers.pop_back();
      if (!seen[next]) push(next);
    }
  }
  return order;
}

// A scalar (the loss, that all updates wait for) is computed as soon as it can
// be, not when nothing smaller is left.
constexpr int64_t kNegligibleBytes = 4096;

// How much more another order must save than the greedy one where it trains.
constexpr double kGreedyHandicap = 0.9;

// Always the ready step after which least is alive; the first of equals.
Order Greedy(const Schedule& schedule) {
  const auto steps = static_cast<int>(schedule.size());
  std::vector<int> awaited(steps, 0);            // steps that have not run
  std::vector<std::vector<int>> waiting(steps);  // on each step
  std::set<int> ready;
  for (int s = 0; s < steps; ++s) {
    for (const int b : schedule.before(s)) {
      waiting[b].push_back(s);
      ++awaited[s];
    }
    if (awaited[s] == 0) ready.insert(s);
  }
  Replay replay(schedule);
  Order order;
  while (!ready.empty()) {
    const int best = *std::ranges::min_element(ready, {}, [&](int s) {
      const int64_t added = replay.LiveAfter(s) - replay.live();
      return added > 0 && added <= kNegligibleBytes ? 0 : added;
    });
    ready.erase(best);
    replay.Run(best);
    order.push_back(best);
    for (const int s : waiting[best]) {
      if (--awaited[s] == 0) ready.insert(s);
    }
  }
  return order;
}

}  // namespace

Result<bool> ScheduleSteps(Program& program, PassContext&) {
  const Schedule schedule(program);
  const auto bytes = [&](int s) { return schedule.OutputBytes(s); };
  Order given(program.steps.size());
  std::iota(given.begin(), given.end(), 0);
  std::vector<Order> orders = {
      given,
      DepthFirst(schedule, [&](int a, int b) { return bytes(a) < bytes(b); }),
      DepthFirst(schedule, [&](int a, int b) { return bytes(a) > bytes(b); }),
      Greedy(schedule),
  };
  // Where it trains, the peak is what the forward part leaves, in any order;
  // the greedy one frees it soonest, and recompute lives on that.
  const bool trains = !program.BuffersOf(BufferKind::kNextState).empty();
  size_t best = trains ? orders.size() - 1 : 0;
  const double handicap = trains ? kGreedyHandicap : 1;
  auto least = static_cast<int64_t>(
      static_cast<double>(schedule.PeakOf(orders[best])) * handicap);
  for (size_t i = 0; i < orders.size(); ++i) {
    const int64_t peak = schedule.PeakOf(orders[i]);
    if (peak >= least) continue;
    best = i;
    least = peak;
  }
  if (best == 0) return false;
  std::vector<Step> steps;
  for (const int s : orders[best]) steps.push_back(std::move(program.steps[s]));
  program.steps = std::move(steps);
  return true;
}

}  // namespace mxc
