// SPDX-License-Identifier: Apache-2.0
// fuse-epilogue: what is done to each element of a contraction's result is done
// before the element is stored.
//
//   conv2 ─► + ─► relu ─► y      ⇒      conv2 {max(acc + bias[c] + x, 0)} ─► y
//   x ───────┘                          x ──┘
//
// A chain is absorbed while the contraction's result has one reader, a Map
// without reductions that reads it at the identity index. The step moves to the
// reader's place, where all operands exist. Where a reader combines two
// contractions, the later one absorbs it: the earlier result is there by then.
#include <optional>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// Whether `reader` computes, element by element, a function of `buffer`.
bool IsPointwiseIn(const Program& program, const Step& reader, int buffer) {
  const Map* map = reader.map();
  if (map == nullptr || reader.view) return false;
  if (reader.outputs.size() != 1 || map->stores.size() != 1) return false;
  const Shape& out = program.buffers[reader.outputs[0]].type.shape;
  if (out != program.buffers[buffer].type.shape) return false;
  const Expr& value = map->stores[0].value;
  if (HasReduce(value)) return false;
  bool identity = true;
  VisitLoads(value, [&](const ExprNode& load) {
    if (reader.inputs[load.index] == buffer) {
      identity = identity && IsIdentityIndex(load.args);
    }
  });
  return identity;
}

// The contraction with the reader's value as its epilogue.
Step Absorbing(const Step& contraction, const Step& reader) {
  Step fused = contraction;
  fused.outputs = reader.outputs;
  fused.origins = reader.origins;
  JoinOrigins(contraction, fused);
  const int buffer = contraction.outputs[0];
  const Expr& result = contraction.contraction()->epilogue;
  const Expr& value = reader.map()->stores[0].value;
  fused.contraction()->epilogue = Rewrite(value, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kLoad) return {};
    const int input = reader.inputs[e->index];
    if (input == buffer) return result;
    return Load(OperandOf(fused, input), e->dtype, e->args);
  });
  fused.contraction()->contraction.types.output = value->dtype;
  TidyOperands(fused);
  return fused;
}

// The place of the fused step, or nothing.
std::optional<int> AbsorbReader(Program& program, StepUses& uses, int step) {
  const Step& contraction = program.steps[step];
  const int buffer = contraction.outputs[0];
  if (program.buffers[buffer].kind != BufferKind::kInternal)
    return std::nullopt;
  const int place = uses.OnlyReaderOf(buffer);
  if (place < 0) return std::nullopt;
  const Step& reader = program.steps[place];
  if (!IsPointwiseIn(program, reader, buffer)) return std::nullopt;
  Step fused = Absorbing(contraction, reader);
  if (TreeSize(fused.contraction()->epilogue) > kMaxTreeSize)
    return std::nullopt;
  uses.Remove(step);
  uses.Replace(place, std::move(fused));
  return place;
}

}  // namespace

Result<bool> FuseEpilogue(Program& program, PassContext&) {
  StepUses uses(program);
  bool changed = false;
  // Backwards, so that the later of two contractions comes first. A fused one
  // is where its reader was, and may absorb the next.
  for (size_t s = program.steps.size(); s-- > 0;) {
    std::optional<int> place = static_cast<int>(s);
    while (program.steps[*place].contraction() &&
           (place = AbsorbReader(program, uses, *place))) {
      changed = true;
    }
  }
  uses.Close();
  return changed;
}

}  // namespace mxc
