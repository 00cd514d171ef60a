// SPDX-License-Identifier: Apache-2.0
// group-steps: where each step is a launch of a device, elementwise steps that
// do not depend on each other become one.
//
//   gw0 = contraction …                 gw0 = contraction …
//   w0' = w0 − rate·gw0                 gw1 = contraction …
//   gw1 = contraction …          ⇒      w0', w1' = w0 − rate·gw0,
//   w1' = w1 − rate·gw1                            w1 − rate·gw1
//
// A step waits until another one needs what it writes or overwrites what it
// reads; then all steps that wait with it run, as sweeps of one step. Updates of
// states wait apart from the others: nobody needs them before the next run. What
// waiting steps keep alive is limited.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ir/program/in_place.h"
#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// Reductions of more terms are dealt to blocks of threads, a step for each.
constexpr int64_t kMostTerms = 63;
// Limits of a group, for its kernel's parameters and its code.
constexpr size_t kMostOperands = 250, kMostInGroup = 40;

// Reductions inside included.
int64_t MostTerms(const Expr& e, std::set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return 0;
  int64_t terms = 1, most = 0;
  for (const Range& range : e->ranges) {
    const bool known = range.begin->kind == ExprKind::kConst &&
                       range.end->kind == ExprKind::kConst;
    // Windows that the border cuts are short.
    if (known) terms *= ExtentOf(range);
  }
  for (const Expr& arg : e->args) most = std::max(most, MostTerms(arg, seen));
  return std::max(terms, most);
}

class Grouping {
 public:
  Grouping(Program& program, const Machine& machine)
      : program_(program), machine_(machine) {}

  bool Run() {
    std::vector<Step> steps = std::exchange(program_.steps, {});
    for (size_t i = 0; i < steps.size(); ++i) {
      FlushWhatMustPrecede(steps[i]);
      if (MayWait(steps[i])) {
        Wait({std::move(steps[i]), i});
      } else {
        Append({std::move(steps[i]), i});
      }
    }
    for (Group* group : {&values_, &updates_}) Flush(*group);
    return changed_;
  }

 private:
  struct Numbered {
    Step step;
    size_t number = 0;  // in the order before
  };
  struct Group {
    std::vector<Numbered> steps;
    std::set<int> reads, writes;  // roots
    int64_t bytes = 0;            // of internal buffers
    size_t operands = 0;
  };

  bool IsInternal(int buffer) const {
    return program_.buffers[program_.Root(buffer)].kind ==
           BufferKind::kInternal;
  }

  int64_t BytesOf(const Step& step) const {
    int64_t bytes = 0;
    for (const int b : step.operands()) {
      if (IsInternal(b)) bytes += program_.buffers[b].reach_bytes();
    }
    return bytes;
  }

  bool MayWait(const Step& step) const {
    const Map* map = step.map();
    if (map == nullptr || step.view || map->stores.empty()) return false;
    if (IsInPlace(program_, step) ||
        BytesOf(step) > machine_.grouped_step_bytes) {
      return false;
    }
    if (step.operands().size() > kMostOperands) return false;
    std::set<const ExprNode*> seen;
    return std::ranges::all_of(map->stores, [&](const Store& store) {
      const Shape& shape =
          program_.buffers[step.outputs[store.output]].type.shape;
      return MostTerms(store.value, seen) <= kMostTerms &&
             !MatchScatterSum(store, shape);
    });
  }

  bool Precedes(const Group& group, const Step& step) const {
    const auto writes = [&](int b) {
      return group.writes.contains(program_.Root(b));
    };
    const auto uses = [&](int b) {
      return writes(b) || group.reads.contains(program_.Root(b));
    };
    return std::ranges::any_of(step.inputs, writes) ||
           std::ranges::any_of(step.outputs, uses);
  }

  // Steps that the schedule put before a copy or a step of the host run beside
  // it, and do not wait for what comes after.
  void FlushWhatMustPrecede(const Step& step) {
    const bool elsewhere =
        step.body.beside() || step.body.places() != Places::kDevice;
    for (Group* group : {&values_, &updates_}) {
      const bool must =
          elsewhere || !step.body.pure() || Precedes(*group, step);
      if (must) Flush(*group);
    }
  }

  bool IsUpdate(const Step& step) const {
    return std::ranges::none_of(step.outputs,
                                [&](int b) { return IsInternal(b); });
  }

  void Append(Numbered next) {
    changed_ = changed_ || next.number < last_;
    last_ = next.number;
    program_.steps.push_back(std::move(next.step));
  }

  void Wait(Numbered next) {
    const Step& step = next.step;
    Group& group = IsUpdate(step) ? updates_ : values_;
    const int64_t bytes = BytesOf(step);
    const size_t operands = step.operands().size();
    if (group.steps.size() == kMostInGroup ||
        group.bytes + bytes > machine_.grouped_bytes ||
        group.operands + operands > kMostOperands) {
      Flush(group);
    }
    for (const int b : step.inputs) group.reads.insert(program_.Root(b));
    for (const int b : step.outputs) group.writes.insert(program_.Root(b));
    group.bytes += bytes;
    group.operands += operands;
    group.steps.push_back(std::move(next));
  }

  void Flush(Group& group) {
    std::vector<Numbered> steps = std::exchange(group, {}).steps;
    if (steps.empty()) return;
    Numbered whole = steps[0];
    for (size_t i = 1; i < steps.size(); ++i) {
      Step more = Joined(whole.step, steps[i].step);
      if (SweepsKeepApart(program_, more)) {
        whole.step = std::move(more);
        changed_ = true;
      } else {
        Append(std::move(whole));
        whole = std::move(steps[i]);
      }
    }
    Append(std::move(whole));
  }

  // Both, which do not depend on each other.
  static Step Joined(const Step& first, const Step& second) {
    Step joined = first;
    const OperandShift shift = AppendOperands(joined, second);
    for (Store store : second.map()->stores) {
      store.output += shift.outputs;
      store.value = Rewrite(store.value, [&](const Expr& e) -> Expr {
        if (e->kind != ExprKind::kLoad) return {};
        return Load(e->index + shift.inputs, e->dtype, e->args);
      });
      joined.map()->stores.push_back(std::move(store));
    }
    TidyOperands(joined);
    SetOrigins({&first.origins, &second.origins}, joined);
    if (joined.name.empty()) joined.name = first.name;
    return joined;
  }

  Program& program_;
  const Machine& machine_;
  Group values_, updates_;
  size_t last_ = 0;
  bool changed_ = false;
};

}  // namespace

Result<bool> GroupSteps(Program& program, PassContext& context) {
  return Grouping(program, context.machine()).Run();
}

}  // namespace mxc
