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
#include "passes/sharing.h"
#include "passes/state_order.h"

namespace mxc {
namespace {

using Order = std::vector<int>;  // of steps

// What decides about memory, without expressions.
class Schedule {
 public:
  explicit Schedule(const Program& program) : program_(program) {
    const size_t buffers = program.buffers.size();
    readers_.assign(buffers, 0);
    for (size_t s = 0; s < program.steps.size(); ++s) {
      const Step& step = program.steps[s];
      inputs_.push_back(DistinctInputs(step));
      for (const int b : inputs_.back()) ++readers_[b];
      pairs_.push_back(SharePairs(program, step));
    }
    before_ = StepsBefore(program);
  }

  size_t size() const { return program_.steps.size(); }
  // The steps that must run before a step.
  const std::vector<int>& before(int step) const { return before_[step]; }
  int64_t Bytes(int buffer) const {
    const Buffer& b = program_.buffers[buffer];
    return b.kind == BufferKind::kInternal ? b.bytes() : 0;
  }
  int64_t OutputBytes(int step) const {
    int64_t bytes = 0;
    for (const int b : program_.steps[step].outputs) bytes += Bytes(b);
    return bytes;
  }

  // Execution as far as memory is concerned: what is alive, with outputs in
  // place of dying inputs.
  class Replay {
   public:
    explicit Replay(const Schedule& schedule)
        : schedule_(schedule),
          unread_(schedule.readers_),
          storage_(schedule.program_.buffers.size(), -1),
          users_(schedule.program_.buffers.size(), 0) {}

    void Run(int step) {
      const Step& s = schedule_.program_.steps[step];
      for (const int b : schedule_.inputs_[step]) --unread_[b];
      const SharePair* shared = Shared(step, 0);
      for (const int b : s.outputs) {
        storage_[b] = shared ? storage_[shared->input] : b;
        if (!shared) live_ += schedule_.Bytes(b);
        if (storage_[b] >= 0) ++users_[storage_[b]];
      }
      peak_ = std::max(peak_, live_);
      for (const int b : schedule_.inputs_[step]) Release(b);
      for (const int b : s.outputs) Release(b);
    }
    int64_t live() const { return live_; }
    int64_t peak() const { return peak_; }

    // What would be alive after `step`, without running it.
    int64_t LiveAfter(int step) const {
      const SharePair* shared = Shared(step, 1);
      int64_t live = live_;
      if (!shared) live += schedule_.OutputBytes(step);
      for (const int b : schedule_.inputs_[step]) {
        const int storage = storage_[b];
        const bool dies =
            unread_[b] == 1 && storage >= 0 && users_[storage] == 1;
        if (!dies || (shared && storage == storage_[shared->input])) continue;
        live -= schedule_.Bytes(storage);
      }
      return live;
    }

   private:
    // The pair that a step realises; `unread`: how often its inputs are still
    // read by steps that have not run, if they die here.
    const SharePair* Shared(int step, int unread) const {
      for (const SharePair& pair : schedule_.pairs_[step]) {
        if (pair.view) return &pair;
        const int storage = storage_[pair.input];
        if (storage < 0) continue;  // the caller's, or a constant
        if (unread_[pair.input] == unread && users_[storage] == 1) return &pair;
      }
      return nullptr;
    }
    void Release(int buffer) {
      const int storage = storage_[buffer];
      if (unread_[buffer] > 0 || storage < 0) return;
      storage_[buffer] = -1;
      if (--users_[storage] == 0) live_ -= schedule_.Bytes(storage);
    }

    const Schedule& schedule_;
    std::vector<int> unread_;   // by buffer: readers that have not run
    std::vector<int> storage_;  // by buffer: whose bytes it uses
    std::vector<int> users_;    // by storage
    int64_t live_ = 0, peak_ = 0;
  };

  int64_t PeakOf(const Order& order) const {
    Replay replay(*this);
    for (const int step : order) replay.Run(step);
    return replay.peak();
  }

 private:
  static std::vector<int> DistinctInputs(const Step& step) {
    std::vector<int> inputs = step.inputs;
    std::ranges::sort(inputs);
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    return inputs;
  }

  const Program& program_;
  std::vector<int> readers_;  // by buffer
  std::vector<std::vector<int>> inputs_, before_;
  std::vector<std::vector<SharePair>> pairs_;
};

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
  Schedule::Replay replay(schedule);
  Order order;
  while (!ready.empty()) {
    const int best = *std::ranges::min_element(
        ready, {}, [&](int s) { return replay.LiveAfter(s); });
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
  size_t best = 0;
  int64_t least = schedule.PeakOf(orders[0]);
  for (size_t i = 1; i < orders.size(); ++i) {
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
