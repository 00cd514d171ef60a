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
// stays unless another is better. What is made of nothing then waits for its
// first reader.
//
//   a' = copy(a)              a' = copy(a)     Where steps may run beside
//   b' = potrf(a')      ⇒     c = exp(x)       others, what does not read them
//   c = exp(x)                b' = potrf(a')   comes first, as far as the peak
//                                              stays.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>

#include "passes/overlap_order.h"
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

// Steps that only prepare states for one reader, such as copies of
// weights into a kernel's layout: they can run at any time, so they wait for
// that reader. Greedily, they would all run before the first large activation.
std::vector<bool> Preparations(const Program& program,
                               const Schedule& schedule) {
  std::vector<int> readers(program.buffers.size(), 0);
  for (const Step& step : program.steps) {
    for (const int b : step.inputs) ++readers[b];
  }
  const auto kind = [&](int b) { return program.buffers[b].kind; };
  std::vector<bool> preparation;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    preparation.push_back(
        schedule.before(static_cast<int>(s)).empty() &&
        std::ranges::all_of(step.inputs,
                            [&](int b) {
                              return kind(b) == BufferKind::kState ||
                                     kind(b) == BufferKind::kConstant;
                            }) &&
        std::ranges::all_of(step.outputs, [&](int b) {
          return kind(b) == BufferKind::kInternal && readers[b] == 1;
        }));
  }
  return preparation;
}

// Always the ready step after which least is alive, with the preparations that
// it waits for; the first of equals.
class GreedyOrder {
 public:
  GreedyOrder(const Program& program, const Schedule& schedule)
      : schedule_(schedule),
        preparation_(Preparations(program, schedule)),
        awaited_(schedule.size(), 0),
        waiting_(schedule.size()),
        offered_(schedule.size()),
        replay_(schedule) {}

  Order Run() {
    for (int s = 0; s < static_cast<int>(schedule_.size()); ++s) {
      for (const int b : schedule_.before(s)) {
        if (preparation_[b]) continue;
        waiting_[b].push_back(s);
        ++awaited_[s];
      }
      if (awaited_[s] == 0 && !preparation_[s]) Offer(s);
    }
    while (!ready_.empty()) {
      const int best = ready_.begin()->second;
      ready_.erase(ready_.begin());
      offered_[best].reset();
      for (const int b : schedule_.before(best)) {
        if (preparation_[b]) Append(b);
      }
      Append(best);
      for (const int s : waiting_[best]) {
        if (--awaited_[s] == 0) Offer(s);
      }
    }
    return std::move(order_);
  }

 private:
  // Puts a step that waits for nothing into its place among those.
  void Offer(int step) {
    if (offered_[step]) ready_.erase({*offered_[step], step});
    offered_[step] = Added(step);
    ready_.emplace(*offered_[step], step);
  }

  // What a step prepares dies with its reader, if that is this one.
  int64_t Added(int step) const {
    const int64_t added = replay_.LiveAfter(step) - replay_.live();
    return added > 0 && added <= kNegligibleBytes ? 0 : added;
  }

  void Append(int step) {
    if (preparation_[step]) {
      if (prepared_.contains(step)) return;
      prepared_.insert(step);
    }
    replay_.Run(step);
    order_.push_back(step);
    for (const int s : replay_.touched()) {
      if (offered_[s]) Offer(s);
    }
  }

  const Schedule& schedule_;
  const std::vector<bool> preparation_;
  std::vector<int> awaited_;                     // steps that have not run
  std::vector<std::vector<int>> waiting_;        // on each step
  std::set<std::pair<int64_t, int>> ready_;      // bytes added, step
  std::vector<std::optional<int64_t>> offered_;  // by step, while it is there
  std::set<int> prepared_;
  Replay replay_;
  Order order_;
};

bool HasGradients(const Program& program) {
  return std::ranges::any_of(
      program.BuffersOf(BufferKind::kOutput), [&](int b) {
        return program.buffers[b].use.role == TensorRole::kGradient;
      });
}

// The order of those tried that needs the least memory.
Order LeastMemory(const Program& program, const Schedule& schedule,
                  const Order& given) {
  const auto bytes = [&](int s) { return schedule.OutputBytes(s); };
  std::vector<Order> orders = {
      given,
      DepthFirst(schedule, [&](int a, int b) { return bytes(a) < bytes(b); }),
      DepthFirst(schedule, [&](int a, int b) { return bytes(a) > bytes(b); }),
      GreedyOrder(program, schedule).Run(),
  };
  // Where it trains, the peak is what the forward part leaves, in any order;
  // the greedy one frees it soonest, and recompute lives on that. So does a
  // worker of several: its gradients can leave as early as they can be there.
  const bool trains = !program.BuffersOf(BufferKind::kNextState).empty() ||
                      HasGradients(program);
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
  return std::move(orders[best]);
}

// The order with what is made of nothing, random numbers and copies of weights,
// moved to just before its first reader: until then its bytes serve nobody.
Order Sunk(const Program& program, const Schedule& schedule,
           const Order& given) {
  std::vector<int> position(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    position[given[i]] = static_cast<int>(i);
  }
  std::vector<bool> sinks(given.size(), false);
  std::vector<int> writer(program.buffers.size(), -1);
  for (const int s : given) {
    const Step& step = program.steps[s];
    for (const int b : step.outputs) writer[b] = s;
    sinks[s] = schedule.OutputBytes(s) > kNegligibleBytes &&
               std::ranges::all_of(step.inputs, [&](int b) {
                 return schedule.Bytes(b) <= kNegligibleBytes ||
                        (step.view && sinks[writer[b]]);
               });
  }
  // Where the first step runs that waits for it, directly or not.
  std::vector<int> at(given.size(), static_cast<int>(given.size()));
  for (const int s : std::views::reverse(given)) {
    if (!sinks[s] || at[s] == std::ssize(given)) at[s] = position[s];
    for (const int b : schedule.before(s)) at[b] = std::min(at[b], at[s]);
  }
  Order order = given;
  std::ranges::stable_sort(order, {}, [&](int s) { return at[s]; });
  return schedule.PeakOf(order) <= schedule.PeakOf(given) ? order : given;
}

// The fastest order near `given` whose peak is no larger.
Order Overlapped(const Program& program, const Schedule& schedule,
                 const PassContext& context, const Order& given) {
  std::vector<double> times;
  for (const Step& step : program.steps) {
    times.push_back(context.Seconds(program, step));
  }
  const auto try_reach = [&](int64_t reach) {
    return OverlapOrder(times, program, schedule, given, reach);
  };
  const int64_t peak = schedule.PeakOf(given);
  double seconds = try_reach(0).seconds;
  Order best = given;
  for (int64_t reach = 4; reach / 4 < std::ssize(given); reach *= 4) {
    TimedOrder tried = try_reach(reach);
    if (tried.seconds >= seconds || schedule.PeakOf(tried.order) > peak) {
      continue;
    }
    best = std::move(tried.order);
    seconds = tried.seconds;
  }
  return best;
}

bool HasBudget(const PassContext& context) {
  return context.training != nullptr && context.training->memory_budget;
}

}  // namespace

Result<bool> ScheduleSteps(Program& program, PassContext& context) {
  const Schedule schedule(program);
  Order given(program.steps.size());
  std::iota(given.begin(), given.end(), 0);
  Order order = LeastMemory(program, schedule, given);
  order = Sunk(program, schedule, order);
  const bool overlaps = std::ranges::any_of(
      program.steps, [](const Step& step) { return step.body.beside(); });
  if (overlaps && !HasBudget(context)) {
    order = Overlapped(program, schedule, context, order);
  }
  if (order == given) return false;
  std::vector<Step> steps;
  for (const int s : order) steps.push_back(std::move(program.steps[s]));
  program.steps = std::move(steps);
  return true;
}

}  // namespace mxc
