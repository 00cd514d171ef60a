// SPDX-License-Identifier: Apache-2.0
// join-reductions: where each step is a launch of a device, a reduction whose
// terms need the results of the step before it, each at its own place, joins
// that step: the threads that know a result go on with it.
//
//   m[c] = Σ x[n, c] / N                    m[c], v[c] = Σ x[n, c] / N,
//   v[c] = Σ (x[n, c] − m[c])² / N    ⇒                  Σ (x[n, c] − m)² / N
//
// The first reduction stands inside of the second one. It does not depend on
// what that runs over, and is computed once for each result.
#include <algorithm>
#include <set>
#include <utility>

#include "ir/program/in_place.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// The fewest terms of a reduction that a block of threads computes.
constexpr int64_t kLeastTerms = 64;
constexpr size_t kMostResults = 8;  // of a sweep (SweepsOf)

int64_t TermsOf(const Expr& reduction) {
  int64_t terms = 1;
  for (const Range& range : reduction->ranges) {
    const bool known = range.begin->kind == ExprKind::kConst &&
                       range.end->kind == ExprKind::kConst;
    if (!known) return 0;
    terms *= ExtentOf(range);
  }
  return terms;
}

class Joining {
 public:
  explicit Joining(Program& program) : program_(program) {}

  bool Run() {
    std::vector<Step> steps = std::exchange(program_.steps, {});
    bool changed = false;
    for (Step& step : steps) {
      const bool joins =
          !program_.steps.empty() && JoinTo(program_.steps.back(), step);
      changed |= joins;
      if (!joins) program_.steps.push_back(std::move(step));
    }
    return changed;
  }

 private:
  const Shape& ShapeOf(int buffer) const {
    return program_.buffers[buffer].type.shape;
  }

  // One sweep of long reductions, one for each output and over all of it.
  bool IsReduction(const Step& step) const {
    const Map* map = step.map();
    if (map == nullptr || step.view || IsInPlace(program_, step)) return false;
    if (map->stores.size() != step.outputs.size()) return false;
    std::vector<Expr> reductions;
    for (const Store& store : map->stores) {
      if (!CoversOutput(program_, step, store)) return false;
      CollectOutermostReductions(store.value, reductions);
    }
    return SweepsOf(program_, step).size() == 1 &&
           std::ranges::any_of(reductions, [](const Expr& e) {
             return TermsOf(e) >= kLeastTerms;
           });
  }

  bool Alike(int a, int b) const {
    return ShapeOf(a) == ShapeOf(b) &&
           program_.buffers[a].layout == program_.buffers[b].layout;
  }

  // Returns whether the index is the sweep's own, on each axis that has more
  // than one.
  bool IsOwnIndex(const std::vector<Expr>& index, const Shape& shape) const {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Expr& at = index[static_cast<size_t>(axis)];
      const bool own = at->kind == ExprKind::kVar && at->index == axis;
      if (shape[axis] > 1 && !own) return false;
    }
    return true;
  }

  // Makes `second` a part of `first`, which runs just before it.
  bool JoinTo(Step& first, const Step& second) {
    if (!IsReduction(first) || !IsReduction(second)) return false;
    if (first.outputs.size() + second.outputs.size() > kMostResults ||
        !Alike(first.outputs[0], second.outputs[0])) {
      return false;
    }
    // Buffers that the first writes are read by their own names alone.
    std::set<int> written;
    for (const int b : first.outputs) written.insert(program_.Root(b));
    for (const int b : second.outputs) {
      if (written.contains(program_.Root(b))) return false;
    }
    int reads = 0;
    bool own = true;
    for (const Store& store : second.map()->stores) {
      VisitLoads(store.value, [&](const ExprNode& load) {
        const int b = second.inputs[load.index];
        if (!written.contains(program_.Root(b))) return;
        ++reads;
        own = own && std::ranges::count(first.outputs, b) > 0 &&
              IsOwnIndex(load.args, ShapeOf(b));
      });
    }
    if (reads == 0 || !own) return false;
    Step joined = Joined(first, second);
    if (!SweepsKeepApart(program_, joined)) return false;
    first = std::move(joined);
    return true;
  }

  Step Joined(const Step& first, const Step& second) const {
    Step joined = first;
    const OperandShift shift = AppendOperands(joined, second);
    for (Store store : second.map()->stores) {
      store.output += shift.outputs;
      store.value = Rewrite(store.value, [&](const Expr& e) -> Expr {
        if (e->kind != ExprKind::kLoad) return {};
        const auto made =
            std::ranges::find(first.outputs, second.inputs[e->index]);
        if (made == first.outputs.end()) {
          return Load(e->index + shift.inputs, e->dtype, e->args);
        }
        return Cast(
            Written(first, static_cast<int>(made - first.outputs.begin())),
            e->dtype);
      });
      joined.map()->stores.push_back(std::move(store));
    }
    TidyOperands(joined);
    SetOrigins({&first.origins, &second.origins}, joined);
    if (joined.name.empty()) joined.name = first.name;
    return joined;
  }

  // The value of an output as it is stored: rounded to its type.
  Expr Written(const Step& step, int output) const {
    const auto store =
        std::ranges::find(step.map()->stores, output, &Store::output);
    return Cast(store->value,
                program_.buffers[step.outputs[output]].type.dtype);
  }

  Program& program_;
};

}  // namespace

Result<bool> JoinReductions(Program& program, PassContext&) {
  return Joining(program).Run();
}

}  // namespace mxc
