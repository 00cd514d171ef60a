// SPDX-License-Identifier: Apache-2.0
// fuse-pooling: a kernel that computes tiles of outputs takes the maxima of
// windows that lie in a tile before it stores any.
//
//   y[64, 224, 224] = conv 3x3 (x)               by winograd6, tiles of 6 x 6
//   z[64, 112, 112] = max y[c, 2i … 2i + 2, 2j … 2j + 2]
//                                           ⇒   z[64, 112, 112] = conv 3x3 (x)
//                                                 {…} max (2, 2)
//
// Windows lie side by side and begin with the first position. Runs when kernels
// are chosen, before buffers get layouts: y is never written.
#include <algorithm>
#include <optional>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// The window along `axis` if `range` is that of index i: i · n … (i + 1) · n.
std::optional<int64_t> WindowOf(const Range& range, int axis) {
  const Expr extent =
      Simplify(range.end - range.begin, [](int) { return std::nullopt; });
  if (extent->kind != ExprKind::kConst) return std::nullopt;
  const auto window = static_cast<int64_t>(extent->number);
  if (!Equal(range.begin, Var(axis) * Expr(window))) return std::nullopt;
  return window;
}

// The windows of a step that takes maxima of its only input, if it does no more
// than that; for each spatial axis of the contraction that yields the input.
std::optional<Extents> WindowsOf(const Program& program, const Step& pooling,
                                 const Contraction& c) {
  const Map* map = pooling.map();
  if (map == nullptr || pooling.view || map->stores.size() != 1 ||
      pooling.inputs.size() != 1 || pooling.outputs.size() != 1 ||
      !CoversOutput(program, pooling, map->stores[0])) {
    return std::nullopt;
  }
  const Expr& value = map->stores[0].value;
  const Shape& out = program.buffers[pooling.outputs[0]].type.shape;
  if (value->kind != ExprKind::kReduce || value->reduce != ReduceOp::kMax ||
      value->args[0]->kind != ExprKind::kLoad ||
      value->ranges.size() != c.kernel.size() ||
      out.dims().size() != c.output_axes.size()) {
    return std::nullopt;
  }
  Extents windows(c.kernel.size(), 0);
  for (size_t axis = 0; axis < c.output_axes.size(); ++axis) {
    const Expr& index = value->args[0]->args[axis];
    if (index->kind != ExprKind::kVar) return std::nullopt;
    if (c.output_axes[axis] < Role::kSpatial0) {
      if (index->index != static_cast<int>(axis)) return std::nullopt;
      continue;
    }
    const auto range = std::ranges::find(value->ranges, index->index,
                                         [](const Range& r) { return r.var; });
    if (range == value->ranges.end()) return std::nullopt;
    const auto window = WindowOf(*range, static_cast<int>(axis));
    const auto k = static_cast<size_t>(c.output_axes[axis]) -
                   static_cast<size_t>(Role::kSpatial0);
    if (!window || out[static_cast<int>(axis)] != c.output[k] / *window) {
      return std::nullopt;
    }
    windows[k] = *window;
  }
  return windows;
}

bool TilesHold(const KernelCatalog& catalog, const ContractionStep& body,
               const Extents& windows) {
  for (const KernelCandidate& kernel : catalog.Candidates(body.contraction)) {
    if (kernel.choice != body.choice) continue;
    if (kernel.tile.size() != windows.size()) return false;
    for (size_t i = 0; i < windows.size(); ++i) {
      if (kernel.tile[i] % windows[i] != 0) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

Result<bool> FusePooling(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  StepUses uses(program);
  bool changed = false;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    Step& step = program.steps[s];
    ContractionStep* body = step.contraction();
    if (body == nullptr || !body->maxima.empty()) continue;
    const int result = step.outputs[0];
    const int reader = uses.OnlyReaderOf(result);
    if (program.buffers[result].kind != BufferKind::kInternal || reader < 0) {
      continue;
    }
    const Step& pooling = program.steps[static_cast<size_t>(reader)];
    const auto windows = WindowsOf(program, pooling, body->contraction);
    if (!windows || !TilesHold(*context.catalog, *body, *windows)) continue;
    Step pooled = step;
    pooled.contraction()->maxima = *windows;
    pooled.outputs = pooling.outputs;
    pooled.origins = pooling.origins;
    JoinOrigins(step, pooled);
    uses.Remove(reader);
    uses.Replace(static_cast<int>(s), std::move(pooled));
    changed = true;
  }
  if (!changed) return false;
  uses.Close();
  RemoveUnusedBuffers(program);
  return true;
}

}  // namespace mxc
