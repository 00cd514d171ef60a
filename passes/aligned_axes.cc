// SPDX-License-Identifier: Apache-2.0
#include "passes/aligned_axes.h"

#include <algorithm>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

bool CountsGroups(Role role) {
  return role == Role::kGroup || role == Role::kGroupIn ||
         role == Role::kGroupOut || role == Role::kGroupBatch;
}

int GroupsOf(const std::vector<Role>& axes) {
  const auto groups = std::ranges::find_if(axes, CountsGroups);
  return groups == axes.end() ? -1 : static_cast<int>(groups - axes.begin());
}

// The variable of an index that is i, or i + constant; -1: another form.
int VarOf(const Expr& index) {
  const bool sum = index->kind == ExprKind::kBinary &&
                   index->binary == BinaryOp::kAdd &&
                   index->args[1]->kind == ExprKind::kConst;
  const Expr& var = sum ? index->args[0] : index;
  return var->kind == ExprKind::kVar ? var->index : -1;
}

}  // namespace

std::vector<AlignedAxes> AlignedAxesOf(const Program& program,
                                       const Step& step) {
  std::vector<AlignedAxes> found;
  if (step.view) return found;
  const auto add = [&](const Expr& value, int written) {
    const int rank = program.buffers[written].type.shape.rank();
    VisitLoads(value, [&](const ExprNode& load) {
      for (size_t axis = 0; axis < load.args.size(); ++axis) {
        const int var = VarOf(load.args[axis]);
        if (var < 0 || var >= rank) continue;
        found.push_back(
            {step.inputs[load.index], static_cast<int>(axis), written, var});
      }
    });
  };
  if (const ContractionStep* body = step.contraction()) {
    const Contraction& c = body->contraction;
    if (body->choice.algorithm.empty() && c.groups > 1) {
      found.push_back({step.inputs[0], GroupsOf(c.data_axes), step.outputs[0],
                       GroupsOf(c.output_axes)});
    }
    add(body->epilogue, step.outputs[0]);
  }
  if (const Map* map = step.map()) {
    for (const Store& store : map->stores) {
      add(store.value, step.outputs[store.output]);
    }
  }
  return found;
}

}  // namespace mxc
