// SPDX-License-Identifier: Apache-2.0
// split-reductions: a reduction that its step would repeat becomes a step of
// its own.
//
//   y[n,c,h,w] = exp(x[n,c,h,w]) / Σ_k exp(x[n,k,h,w])
//                                       ⇒   s[n,h,w] = Σ_k exp(x[n,k,h,w])
//                                           y[n,c,h,w] = exp(x[n,c,h,w]) /
//                                           s[n,h,w]
//
// The sum does not depend on c, but c's loop lies outside of h and w: hoisting
// cannot keep it from being repeated for every c. Split where the two steps
// cost less than the one, in the measure of evaluation_cost.h. A softmax over
// the last axis stays whole.
#include <algorithm>
#include <optional>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

std::string_view NameOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kProduct:
      return "product";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kMin:
      return "min";
  }
  return "";
}

// A reduction as a tensor over those axes of the store that it depends on.
struct Statistic {
  Shape shape;
  Expr value;               // over its own index
  std::vector<Expr> index;  // where the store reads it
};

Statistic MakeStatistic(const Expr& reduction, const Store& store) {
  const std::vector<int> axes = FreeVars(reduction);
  Extents dims;
  Statistic statistic;
  for (const int axis : axes) {
    dims.push_back(store.extent[axis]);
    statistic.index.push_back(Var(axis));
  }
  if (dims.empty()) {
    dims.push_back(1);
    statistic.index.push_back(Expr(0));
  }
  statistic.shape = Shape(dims);
  statistic.value = SubstituteVars(reduction, [&](int var) {
    const auto at = std::ranges::find(axes, var);
    if (at == axes.end()) return Expr();
    return Var(static_cast<int>(at - axes.begin()));
  });
  return statistic;
}

Expr ReplaceAll(const Expr& e, const Expr& what, const Expr& with) {
  return Rewrite(e, [&](const Expr& node) -> Expr {
    return node->kind == ExprKind::kReduce && Equal(node, what) ? with : Expr();
  });
}

// The store in two: the statistic's and, loading it as `operand`, the rest.
struct Halves {
  Statistic statistic;
  Store first, second;
};

Halves Split(const Store& store, const Expr& reduction, int operand) {
  Halves halves;
  halves.statistic = MakeStatistic(reduction, store);
  const Extents& dims = halves.statistic.shape.dims();
  halves.first = {0, Extents(dims.size(), 0), dims, halves.statistic.value};
  halves.second = store;
  halves.second.value =
      ReplaceAll(store.value, reduction,
                 Load(operand, reduction->dtype, halves.statistic.index));
  return halves;
}

bool Pays(const Machine& machine, const Halves& halves, const Store& store) {
  return HoistedCost(halves.first) + HoistedCost(halves.second) +
             StepCost(machine) <
         HoistedCost(store);
}

// `step` loads the statistic from a new buffer, which the step that is returned
// writes before it.
Step Divide(Program& program, Step& step, const Expr& reduction,
            const Halves& halves) {
  const std::string_view role = NameOf(reduction->reduce);
  const int number = AddBuffer(
      program,
      fmt::format("{}/{}", program.buffers[step.outputs[0]].name, role),
      {reduction->dtype, halves.statistic.shape});

  Step first = step;
  first.name += fmt::format("/{}", role);
  first.outputs = {number};
  first.map()->stores = {halves.first};
  TidyOperands(first);
  step.inputs.push_back(number);
  step.map()->stores = {halves.second};
  TidyOperands(step);
  return first;
}

// Splits one reduction off the step's only store. Nothing if none pays.
std::optional<Step> SplitOne(const Machine& machine, Program& program,
                             Step& step) {
  const Store& store = step.map()->stores[0];
  std::vector<Expr> reductions;
  CollectOutermostReductions(store.value, reductions);
  // Small ones first: a larger one may contain them.
  std::ranges::stable_sort(reductions, {}, CountNodes);
  for (const Expr& reduction : reductions) {
    if (Equal(reduction, store.value)) continue;
    const auto operand = static_cast<int>(step.inputs.size());
    const Halves halves = Split(store, reduction, operand);
    if (!Pays(machine, halves, store)) continue;
    return Divide(program, step, reduction, halves);
  }
  return std::nullopt;
}

bool Splittable(const Program& program, const Step& step) {
  const Map* map = step.map();
  return map != nullptr && map->stores.size() == 1 && !step.view &&
         CoversOutput(program, step, map->stores[0]);
}

}  // namespace

Result<bool> SplitReductions(Program& program, PassContext& context) {
  bool changed = false;
  std::vector<Step> steps;
  for (Step& step : program.steps) {
    while (Splittable(program, step)) {
      std::optional<Step> statistic =
          SplitOne(context.machine(), program, step);
      if (!statistic) break;
      steps.push_back(*std::move(statistic));
      changed = true;
    }
    steps.push_back(std::move(step));
  }
  program.steps = std::move(steps);
  return changed;
}

}  // namespace mxc
