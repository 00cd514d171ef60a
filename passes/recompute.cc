// SPDX-License-Identifier: Apache-2.0
// recompute: what the backward part needs again of the forward part is computed
// again where that costs next to nothing, or as far as a memory budget asks.
//
//   x = conv(d)                        x = conv(d)
//   y = relu(norm(x))                  y = relu(norm(x))
//   z = conv(y)         y lives   ⇒    z = conv(y)              y dies
//   …                   to the end     …
//   dw = conv'(y, dz)                  y' = relu(norm(x))
//                                      dw = conv'(y', dz)
//
// The forward part is what outputs depend on, and what gradients begin with, as far
// as it depends on no gradient.
//
// A forward step that is recomputed has one clone, placed before the first
// backward step that needs it, together with the clones that it needs itself.
//
// Without a budget, recomputed is what costs about as much as reading it, from
// values that are kept anyway, in chains of no more than a few steps. With one
// that this does not meet, values are dropped when memory is short, and
// computed again as often as needed (eviction.h): of several measures of what
// to drop, the one that costs least time.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "ir/program/memory.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/eviction.h"
#include "passes/passes.h"
#include "passes/schedule.h"
#include "passes/state_order.h"

namespace mxc {
namespace {

// Work for each byte of the result, in units: a handful of operations for each
// float beside reading and writing it.
constexpr double kNextToNothing = 6;
constexpr int64_t kWorthwhileBytes = 4096;

class Forward {
 public:
  Forward(const Machine& machine, const Program& program)
      : machine_(machine),
        program_(program),
        steps_(static_cast<int>(program.steps.size())),
        writer_(program.buffers.size(), -1),
        of_gradients_(program.steps.size(), false),
        forward_(program.steps.size(), false),
        needed_(program.buffers.size(), false) {
    for (int s = 0; s < steps_; ++s) {
      for (const int b : program.steps[s].outputs) writer_[b] = s;
    }
    MarkGradients();
    MarkForward();
    for (int s = 0; s < steps_; ++s) {
      if (!backward(s)) continue;
      for (const int b : program.steps[s].inputs) needed_[b] = Made(b);
    }
  }

  int steps() const { return steps_; }
  bool forward(int step) const { return forward_[step]; }
  // After the forward part; a moving statistic that is updated within it is
  // neither.
  bool backward(int step) const {
    return step > last_forward_ && !forward_[step];
  }
  int writer(int buffer) const { return writer_[buffer]; }
  // Written by a forward step, into the arena.
  bool Made(int buffer) const {
    return writer_[buffer] >= 0 && forward_[writer_[buffer]] &&
           program_.buffers[buffer].kind == BufferKind::kInternal;
  }
  // Read by a backward step.
  bool needed(int buffer) const { return needed_[buffer]; }

  // The step is a Map. Includes what a step costs beside its elements.
  double Work(int step) const {
    double work = StepCost(machine_);
    for (const Store& store : program_.steps[step].map()->stores) {
      work += HoistedCost(store);
    }
    return work;
  }
  int64_t Bytes(int step) const {
    int64_t bytes = 0;
    for (const int b : program_.steps[step].outputs) {
      if (Made(b)) bytes += program_.buffers[b].bytes();
    }
    return bytes;
  }
  // A clone needs buffers of its own for all outputs.
  bool Cloneable(int step) const {
    return forward_[step] && program_.steps[step].body.pure() &&
           std::ranges::all_of(program_.steps[step].outputs,
                               [&](int b) { return Made(b); });
  }

 private:
  // The steps that compute gradients or depend on one.
  void MarkGradients() {
    for (int s = 0; s < steps_; ++s) {
      const Step& step = program_.steps[s];
      of_gradients_[s] =
          step.backward || std::ranges::any_of(step.inputs, [&](int b) {
            return writer_[b] >= 0 && of_gradients_[writer_[b]];
          });
    }
  }

  void MarkForward() {
    std::vector<int> pending = program_.BuffersOf(BufferKind::kOutput);
    const std::vector<int> begun = ReadByGradients();
    pending.insert(pending.end(), begun.begin(), begun.end());
    while (!pending.empty()) {
      const int step = writer_[pending.back()];
      pending.pop_back();
      if (step < 0 || forward_[step] || of_gradients_[step]) continue;
      forward_[step] = true;
      // A copy to the caller's output may come whenever there is time.
      const auto& outputs = program_.steps[step].outputs;
      if (std::ranges::any_of(outputs, [&](int b) { return Made(b); })) {
        last_forward_ = std::max(last_forward_, step);
      }
      const auto& inputs = program_.steps[step].inputs;
      pending.insert(pending.end(), inputs.begin(), inputs.end());
    }
  }

  // What gradients read that is there before the first of them: a weight that
  // is packed for one of them alone comes later.
  std::vector<int> ReadByGradients() const {
    const auto first = static_cast<int>(std::ranges::find(of_gradients_, true) -
                                        of_gradients_.begin());
    std::vector<int> read;
    for (int s = first; s < steps_; ++s) {
      if (!of_gradients_[s]) continue;
      std::ranges::copy_if(program_.steps[s].inputs, std::back_inserter(read),
                           [&](int b) { return writer_[b] < first; });
    }
    return read;
  }

  const Machine& machine_;
  const Program& program_;
  int steps_, last_forward_ = -1;
  std::vector<int> writer_;
  std::vector<bool> of_gradients_, forward_, needed_;
};

// Which forward steps are recomputed.
using Choice = std::vector<bool>;

// The program with clones of the chosen steps.
class Cloning {
 public:
  Cloning(const Program& program, const Forward& forward, const Choice& choice)
      : program_(program), forward_(forward), choice_(choice) {}

  Program Run() {
    Program out = program_;
    out.steps.clear();
    for (int s = 0; s < forward_.steps(); ++s) {
      Step step = program_.steps[s];
      if (forward_.backward(s)) Redirect(out, step);
      out.steps.push_back(std::move(step));
    }
    SortByDependencies(out);  // the clones read states, too
    return out;
  }

 private:
  void Redirect(Program& out, Step& step) {
    for (int& input : step.inputs) input = CloneOf(out, input);
  }

  // The buffer that holds the recomputed value, or the buffer itself.
  int CloneOf(Program& out, int buffer) {
    if (!forward_.Made(buffer) || !choice_[forward_.writer(buffer)]) {
      return buffer;
    }
    const auto found = clones_.find(buffer);
    if (found != clones_.end()) return found->second;
    const int writer = forward_.writer(buffer);
    Step clone = program_.steps[writer];
    Redirect(out, clone);
    for (int& output : clone.outputs) {
      Buffer again = program_.buffers[output];
      again.name += "/again";
      out.buffers.push_back(std::move(again));
      const int index = static_cast<int>(out.buffers.size()) - 1;
      clones_[output] = index;
      output = index;
    }
    clone.name += "/again";
    out.steps.push_back(std::move(clone));
    return clones_.at(buffer);
  }

  const Program& program_;
  const Forward& forward_;
  const Choice& choice_;
  std::map<int, int> clones_;
};

struct Candidate {
  Program program;
  int64_t bytes = 0;
};

class CheapChoice {
 public:
  CheapChoice(const Machine& machine, const Program& program)
      : program_(program), forward_(machine, program) {}

  Candidate Try(const Choice& choice) const {
    Candidate candidate;
    candidate.program = Cloning(program_, forward_, choice).Run();
    candidate.bytes = Schedule(candidate.program).Peak() +
                      OutputBytes(candidate.program) +
                      WorkspaceBytes(candidate.program);
    return candidate;
  }

  Choice Nothing() const { return Choice(forward_.steps(), false); }

  // Map steps that cost about as much as reading what they write, in chains of
  // at most `depth` of them, from values that are kept anyway.
  Choice Cheap(int depth) const {
    Choice choice = Nothing();
    std::vector<int> chain(forward_.steps(), 0);
    for (int s = 0; s < forward_.steps(); ++s) {
      if (!forward_.Cloneable(s) || !NextToNothing(s)) continue;
      int length = 1;
      bool from_kept = true;
      for (const int b : program_.steps[s].inputs) {
        if (!forward_.Made(b)) continue;
        const int writer = forward_.writer(b);
        if (choice[writer]) {
          length = std::max(length, chain[writer] + 1);
        } else if (program_.buffers[b].bytes() > forward_.Bytes(s) / 8) {
          from_kept = from_kept && forward_.needed(b);
        }
      }
      if (!from_kept || length > depth) continue;
      choice[s] = true;
      chain[s] = program_.steps[s].view ? length - 1 : length;
    }
    return choice;
  }

 private:
  bool NextToNothing(int step) const {
    const Step& s = program_.steps[step];
    if (s.view) return true;
    const int64_t bytes = forward_.Bytes(step);
    return s.map() && bytes >= kWorthwhileBytes &&
           forward_.Work(step) <= kNextToNothing * static_cast<double>(bytes);
  }

  const Program& program_;
  Forward forward_;
};

// The cheap choice that needs least.
Candidate BestCheap(const Machine& machine, const Program& program) {
  const CheapChoice choice(machine, program);
  Candidate best = choice.Try(choice.Nothing());
  for (const int depth : {1, 2, 4}) {
    Candidate candidate = choice.Try(choice.Cheap(depth));
    if (candidate.bytes < best.bytes) best = std::move(candidate);
  }
  return best;
}

// What the plan will take, with what placement loses.
int64_t PlannedBytes(Program program, PassContext& context) {
  MXC_CHECK(ShareBuffers(program, context).ok());
  MXC_CHECK(PlanMemory(program, context).ok());
  return MemoryOf(program).peak();
}

class BudgetSearch {
 public:
  BudgetSearch(const Program& program, const Candidate& largest,
               PassContext& context)
      : eviction_(context, program),
        largest_(largest.bytes),
        context_(context) {}

  // The fastest program within `budget`, or nothing.
  std::optional<Candidate> Within(int64_t budget) const {
    std::optional<EvictionRun> best;
    int64_t bytes = 0;
    for (const double patience : kPatience) {
      // Updates that have to wait, and placement, add to what was asked for.
      int64_t asked = budget;
      for (int round = 0; round < kRounds; ++round) {
        auto run = eviction_.Run(asked, patience);
        if (!run) break;
        const int64_t needed = PlannedBytes(run->program, context_);
        if (needed <= budget) {
          if (!best || run->seconds < best->seconds) {
            best = std::move(run);
            bytes = needed;
          }
          break;
        }
        asked -= needed - budget;
      }
    }
    if (!best) return std::nullopt;
    return Candidate{std::move(best->program), bytes};
  }

  // About the least budget there is a program for: what eviction alone gets
  // down to is known fast, and a plan needs little more.
  int64_t Least() const {
    int64_t low = 0, high = largest_;
    while (high - low > largest_ / kPrecision) {
      const int64_t middle = low + (high - low) / 2;
      (AnyRun(middle) ? high : low) = middle;
    }
    const auto run = AnyRun(high);
    int64_t budget = run ? PlannedBytes(run->program, context_) : largest_;
    for (; budget < largest_; budget += largest_ / kPrecision) {
      if (const auto candidate = Within(budget)) return candidate->bytes;
    }
    return largest_;
  }

 private:
  static constexpr int kRounds = 6;
  static constexpr double kPatience[] = {0.0, 0.5, 1.0, 2.0};
  static constexpr int64_t kPrecision = 256;

  std::optional<EvictionRun> AnyRun(int64_t bytes) const {
    for (const double patience : kPatience) {
      if (auto run = eviction_.Run(bytes, patience)) return run;
    }
    return std::nullopt;
  }

  const Eviction eviction_;
  const int64_t largest_;
  PassContext& context_;
};

}  // namespace

Result<bool> Recompute(Program& program, PassContext& context) {
  if (std::ranges::none_of(program.steps, &Step::backward)) return false;
  Candidate best = BestCheap(context.machine(), program);
  const auto budget =
      context.training ? context.training->memory_budget : std::nullopt;
  if (budget && PlannedBytes(best.program, context) > *budget) {
    const BudgetSearch search(program, best, context);
    auto within = search.Within(*budget);
    if (!within) {
      return Diagnostics{
          Error({},
                "the memory budget is {} B; the least with which '{}' trains "
                "is {} B",
                *budget, program.name, search.Least())};
    }
    best = std::move(*within);
  }
  if (best.program.steps.size() == program.steps.size()) return false;
  program = std::move(best.program);
  return true;
}

}  // namespace mxc
