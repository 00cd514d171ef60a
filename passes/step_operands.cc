// SPDX-License-Identifier: Apache-2.0
#include "passes/step_operands.h"

#include <algorithm>
#include <unordered_map>

namespace mxc {

void VisitExprs(Step& step, const std::function<void(Expr&)>& f) {
  step.body.VisitExprs(f);
}

void VisitExprs(const Step& step, const std::function<void(const Expr&)>& f) {
  step.body.VisitExprs(f);
}

int FixedOperands(const Step& step) { return step.body.FixedOperands(step); }

int OperandOf(Step& step, int buffer) {
  const auto first = step.inputs.begin() + FixedOperands(step);
  const auto found = std::find(first, step.inputs.end(), buffer);
  if (found == step.inputs.end()) {
    step.inputs.push_back(buffer);
    return static_cast<int>(step.inputs.size()) - 1;
  }
  return static_cast<int>(found - step.inputs.begin());
}

OperandShift AppendOperands(Step& step, const Step& more) {
  const OperandShift shift = {static_cast<int>(step.inputs.size()),
                              static_cast<int>(step.outputs.size())};
  step.inputs.insert(step.inputs.end(), more.inputs.begin(), more.inputs.end());
  step.outputs.insert(step.outputs.end(), more.outputs.begin(),
                      more.outputs.end());
  return shift;
}

bool TidyOperands(Step& step) {
  const int fixed = FixedOperands(step);
  std::vector<bool> loaded(step.inputs.size(), false);
  VisitExprs(step, [&](Expr& e) {
    VisitLoads(e, [&](const ExprNode& load) { loaded[load.index] = true; });
  });
  std::vector<int> kept(step.inputs.begin(), step.inputs.begin() + fixed);
  std::unordered_map<int, int> place;  // in `kept`, by buffer
  std::vector<int> renumbered(step.inputs.size(), -1);
  for (int i = 0; i < static_cast<int>(step.inputs.size()); ++i) {
    if (i < fixed) {
      renumbered[i] = i;
    } else if (loaded[i]) {
      const auto [found, added] =
          place.try_emplace(step.inputs[i], static_cast<int>(kept.size()));
      renumbered[i] = found->second;
      if (added) kept.push_back(step.inputs[i]);
    }
  }
  if (kept == step.inputs) return false;
  step.inputs = std::move(kept);
  VisitExprs(step, [&](Expr& e) {
    e = Rewrite(e, [&](const Expr& node) -> Expr {
      if (node->kind != ExprKind::kLoad ||
          renumbered[node->index] == node->index) {
        return {};
      }
      return Load(renumbered[node->index], node->dtype, node->args);
    });
  });
  return true;
}

}  // namespace mxc
