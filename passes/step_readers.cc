// SPDX-License-Identifier: Apache-2.0
#include "passes/step_readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace mxc {

std::vector<int> ReadersOf(const Program& program, int buffer) {
  std::vector<int> readers;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const std::vector<int>& inputs = program.steps[s].inputs;
    if (std::ranges::count(inputs, buffer) > 0) {
      readers.push_back(static_cast<int>(s));
    }
  }
  return readers;
}

bool IsOwnIndex(const std::vector<Expr>& index) {
  for (size_t axis = 0; axis < index.size(); ++axis) {
    if (index[axis]->kind != ExprKind::kVar) return false;
    if (index[axis]->index != static_cast<int>(axis)) return false;
  }
  return true;
}

Expr WithOwnUnitIndices(const Store& store) {
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

bool HasReduce(const Expr& e) {
  bool found = false;
  Rewrite(e, [&](const Expr& node) {
    found |= node->kind == ExprKind::kReduce;
    return Expr();
  });
  return found;
}

namespace {

void CollectOutermost(const Expr& e, std::unordered_set<const ExprNode*>& seen,
                      std::vector<Expr>& found) {
  if (!seen.insert(e.get()).second) return;
  if (e->kind == ExprKind::kReduce) {
    const auto same = [&](const Expr& other) { return Equal(other, e); };
    if (std::ranges::none_of(found, same)) found.push_back(e);
    return;
  }
  for (const Expr& arg : e->args) CollectOutermost(arg, seen, found);
}

}  // namespace

void CollectOutermostReductions(const Expr& e, std::vector<Expr>& found) {
  std::unordered_set<const ExprNode*> seen;
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

void JoinOrigins(const Step& absorbed, Step& step) {
  std::vector<std::string> origins = absorbed.origins;
  for (const std::string& origin : step.origins) {
    if (std::ranges::find(origins, origin) == origins.end()) {
      origins.push_back(origin);
    }
  }
  step.origins = std::move(origins);
  step.name = fmt::format("{}", fmt::join(step.origins, "+"));
}

}  // namespace mxc
