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
// to drop, and of what to keep to begin with (checkpoints.h), the one that costs
// least time.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "ir/program/memory.h"
#include "ir/program/steps/map.h"
#include "passes/checkpoints.h"
#include "passes/evaluation_cost.h"
#include "passes/eviction.h"
#include "passes/forward_part.h"
#include "passes/passes.h"
#include "passes/schedule.h"
#include "passes/state_order.h"

namespace mxc {
namespace {

// Work for each byte of the result, in units: a handful of operations for each
// float beside reading and writing it.
constexpr double kNextToNothing = 6;
constexpr int64_t kWorthwhileBytes = 4096;

// Which forward steps are recomputed.
using Choice = std::vector<bool>;

// The program with clones of the chosen steps.
class Cloning {
 public:
  Cloning(const Program& program, const ForwardPart& forward,
          const Choice& choice)
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
  const ForwardPart& forward_;
  const Choice& choice_;
  std::map<int, int> clones_;
};

// The most bytes that live at once, outputs included.
int64_t PeakBytes(const Program& program) {
  return Schedule(program).Peak() + OutputBytes(program) +
         WorkspaceBytes(program);
}

struct Candidate {
  Program program;
  int64_t bytes = 0;
};

class CheapChoice {
 public:
  CheapChoice(const Machine& machine, const Program& program)
      : machine_(machine), program_(program), forward_(program) {}

  Candidate Try(const Choice& choice) const {
    Candidate candidate;
    candidate.program = Cloning(program_, forward_, choice).Run();
    candidate.bytes = PeakBytes(candidate.program);
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
           Work(step) <= kNextToNothing * static_cast<double>(bytes);
  }

  // The step is a Map. Includes what a step costs beside its elements.
  double Work(int step) const {
    double work = StepCost(machine_);
    for (const Store& store : program_.steps[step].map()->stores) {
      work += HoistedCost(store);
    }
    return work;
  }

  const Machine& machine_;
  const Program& program_;
  ForwardPart forward_;
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
Result<int64_t> PlannedBytes(Program program, PassContext& context) {
  if (context.plan_rest == nullptr) {
    MXC_RETURN_IF_ERROR(ShareBuffers(program, context));
    MXC_RETURN_IF_ERROR(PlanMemory(program, context));
    return MemoryOf(program).peak();
  }
  MXC_ASSIGN(const Program planned,
             context.plan_rest(std::move(program), context));
  return MemoryOf(planned).peak();
}

class BudgetSearch {
 public:
  BudgetSearch(const Program& program, const Candidate& largest,
               PassContext& context)
      : eviction_(context, program),
        largest_(largest.bytes),
        context_(context) {
    const ForwardPart part(program);
    for (const int parts : kParts) {
      const std::vector<int> held =
          Checkpoints(program, part, eviction_.costs(), parts);
      if (parts > 1 && held == policies_.back().held) continue;
      for (const double patience : kPatience) {
        policies_.push_back({patience, held});
      }
    }
  }

  // The fastest program within `budget`, or nothing.
  std::optional<Candidate> Within(int64_t budget) const {
    std::multimap<double, Attempt> attempts;  // by the seconds they take
    const auto add = [&](std::optional<Attempt> attempt) {
      if (!attempt) return;
      const double seconds = attempt->run.seconds;
      attempts.emplace(seconds, std::move(*attempt));
    };
    for (const EvictionPolicy& policy : policies_) {
      add(Fitting({&policy, budget, kRounds, {}}, budget));
    }
    while (!attempts.empty()) {
      Attempt fastest = std::move(attempts.extract(attempts.begin()).mapped());
      const auto needed = PlannedBytes(fastest.run.program, context_);
      if (!needed.ok()) continue;
      if (*needed <= budget) {
        return Candidate{std::move(fastest.run.program), *needed};
      }
      fastest.asked -= Excess(*needed, budget);
      --fastest.rounds;
      add(Fitting(std::move(fastest), budget));
    }
    return std::nullopt;
  }

  // About the least budget there is a program for: what eviction alone gets
  // down to is known fast, and a plan needs little more. Nothing if that is more
  // than without one.
  std::optional<Candidate> Least() const {
    const int64_t step = std::max<int64_t>(1, largest_ / kPrecision);
    int64_t low = 0, high = largest_;
    while (high - low > step) {
      const int64_t middle = low + (high - low) / 2;
      (AnyRun(middle) ? high : low) = middle;
    }
    for (int64_t budget = high; budget < largest_; budget += step) {
      if (auto candidate = Within(budget)) return candidate;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kRounds = 8;
  static constexpr double kPatience[] = {0.0, 0.5, 1.0, 2.0};
  static constexpr int kParts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
  static constexpr int64_t kPrecision = 256;

  struct Attempt {
    const EvictionPolicy* policy;
    int64_t asked;
    int rounds;  // that may follow
    EvictionRun run;
  };

  // By how much less is asked for next.
  static int64_t Excess(int64_t needed, int64_t budget) {
    return std::max(needed - budget, budget / kPrecision);
  }

  // The attempt with a run of which no more than `budget` bytes live at once:
  // updates that have to wait add to what was asked for, so that less is asked
  // for again; placement may still add to it.
  std::optional<Attempt> Fitting(Attempt attempt, int64_t budget) const {
    for (; attempt.rounds > 0; --attempt.rounds) {
      auto run = eviction_.Run(attempt.asked, *attempt.policy);
      if (!run) return std::nullopt;
      const int64_t live = PeakBytes(run->program);
      if (live <= budget) {
        attempt.run = std::move(*run);
        return attempt;
      }
      attempt.asked -= Excess(live, budget);
    }
    return std::nullopt;
  }

  std::optional<EvictionRun> AnyRun(int64_t bytes) const {
    for (const EvictionPolicy& policy : policies_) {
      if (auto run = eviction_.Run(bytes, policy)) return run;
    }
    return std::nullopt;
  }

  const Eviction eviction_;
  std::vector<EvictionPolicy> policies_;
  const int64_t largest_;
  PassContext& context_;
};

bool Take(Candidate best, Program& program) {
  if (best.program.steps.size() == program.steps.size()) return false;
  program = std::move(best.program);
  return true;
}

}  // namespace

Result<bool> Recompute(Program& program, PassContext& context) {
  if (std::ranges::none_of(program.steps, &Step::backward)) return false;
  Candidate best = BestCheap(context.machine(), program);
  const auto budget =
      context.training ? context.training->memory_budget : std::nullopt;
  if (!budget) return Take(std::move(best), program);
  MXC_ASSIGN(const int64_t planned, PlannedBytes(best.program, context));
  if (planned > *budget) {
    const BudgetSearch search(program, best, context);
    auto within = search.Within(*budget);
    if (!within) within = search.Least();
    const int64_t bytes = within ? within->bytes : best.bytes;
    if (bytes > *budget) {
      return Diagnostics{
          Error({},
                "the memory budget is {} B; the least with which '{}' trains "
                "is {} B",
                *budget, program.name, bytes)};
    }
    if (within) best = std::move(*within);
  }
  return Take(std::move(best), program);
}

}  // namespace mxc
