// SPDX-License-Identifier: Apache-2.0
#include "passes/step_readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "ir/program/expr_table.h"
#include "ir/program/steps/map.h"

namespace mxc {

Expr WithIdentityUnitIndices(const Store& store) {
  return Rewrite(store.value, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kLoad) return {};
    if (e->args.size() != store.extent.size()) return {};
    std::vector<Expr> index = e->args;
    bool changed = false;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      const bool unit = store.begin[axis] == 0 && store.extent[axis] == 1;
      if (!unit || !IsConst(index[axis], 0)) continue;
      index[axis] = Var(static_cast<int>(axis));
      changed = true;
    }
    return changed ? Load(e->index, e->dtype, std::move(index)) : Expr();
  });
}

namespace {

bool HasReduceBelow(const Expr& e, ExprSet& seen) {
  if (e->kind == ExprKind::kReduce) return true;
  if (e->args.empty() || !seen.Insert(e.get())) return false;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return HasReduceBelow(arg, seen); });
}

}  // namespace

bool HasReduce(const Expr& e) {
  ExprSet seen;
  return HasReduceBelow(e, seen);
}

namespace {

void CollectOutermost(const Expr& e, ExprSet& seen, std::vector<Expr>& found) {
  if (e->args.empty() || !seen.Insert(e.get())) return;
  if (e->kind == ExprKind::kReduce) {
    const auto same = [&](const Expr& other) { return Equal(other, e); };
    if (std::ranges::none_of(found, same)) found.push_back(e);
    return;
  }
  for (const Expr& arg : e->args) CollectOutermost(arg, seen, found);
}

}  // namespace

void CollectOutermostReductions(const Expr& e, std::vector<Expr>& found) {
  ExprSet seen;
  CollectOutermost(e, seen, found);
}

bool UpdatesState(const Program& program, const Step& step) {
  return std::ranges::any_of(step.outputs, [&](int b) {
    return program.buffers[b].kind == BufferKind::kNextState;
  });
}

bool CoversOutput(const Program& program, const Step& step,
                  const Store& store) {
  const Shape& shape = program.buffers[step.outputs[store.output]].type.shape;
  return store.extent == shape.dims();
}

IntervalOf BoxOf(const Extents& begin, const Extents& extent) {
  return [begin, extent](int var) -> std::optional<Interval> {
    if (var >= static_cast<int>(begin.size())) return std::nullopt;
    return Interval{begin[var], begin[var] + extent[var] - 1};
  };
}

void SetOrigins(const std::vector<const std::vector<std::string>*>& lists,
                Step& step) {
  std::vector<std::string> origins;
  std::unordered_set<std::string_view> seen;
  for (const auto* list : lists) {
    for (const std::string& origin : *list) {
      if (seen.insert(origin).second) origins.push_back(origin);
    }
  }
  step.origins = std::move(origins);
  step.name = fmt::format("{}", fmt::join(step.origins, "+"));
}

void JoinOrigins(const Step& absorbed, Step& step) {
  SetOrigins({&absorbed.origins, &step.origins}, step);
  step.backward &= absorbed.backward;
}

bool CopiesToOutput(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.view || map->stores.size() != 1) return false;
  if (step.inputs.size() != 1 || step.outputs.size() != 1) return false;
  const Buffer& from = program.buffers[step.inputs[0]];
  const Buffer& to = program.buffers[step.outputs[0]];
  const Store& store = map->stores[0];
  return from.kind == BufferKind::kInternal && to.kind == BufferKind::kOutput &&
         from.type == to.type && CoversOutput(program, step, store) &&
         store.value->kind == ExprKind::kLoad &&
         IsIdentityIndex(store.value->args);
}

}  // namespace mxc
