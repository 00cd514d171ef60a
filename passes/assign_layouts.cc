// SPDX-License-Identifier: Apache-2.0
// assign-layouts: buffers get the layouts that the chosen kernels work on.
//
//   data ─► conv0 ─► pool ─► conv1 ─► out      row-major throughout
//
//   data ─► conv0 ─► pool ─► conv1 ─► copy ─► out
//     row-major  {8c}   {8c, halo 1}   {8c}  row-major
//
//  1. The result of a chosen kernel has the kernel's channel block.
//  2. Any other step writes what its readers' kernels ask for; if none asks,
//     the blocks that it reads, so that pooling, elementwise steps, Concat and
//     sums over blocked channels stay in whole vectors; row-major otherwise,
//     and always for views.
//  3. The border of zeros is the largest that any reader needs; the producer's
//     buffer carries it, so that no kernel handles padding.
//  4. Where a reader still needs another layout, and for what the caller owns,
//     a copy is inserted: one for each buffer and layout.
//  5. Constants take the layout that a kernel packs its weights in; codegen
//     lays the bytes out when it writes the artifact. Steps that take few of
//     their elements take them from there.
//
//  Those of a device are choose-layouts' choice.
#include <algorithm>
#include <optional>

#include "ir/program/in_place.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/free_layouts.h"
#include "passes/kernel_demands.h"
#include "passes/layout_copies.h"
#include "passes/passes.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

// Another output's border may cost one part in so many of that output's bytes.
constexpr int64_t kSmallShare = 8;

class LayoutAssignment {
 public:
  LayoutAssignment(Program& program, const KernelCatalog& catalog)
      : program_(program), demands_(program, catalog) {}

  // True if it changed something.
  bool Run() {
    free_ = BuffersOfAnyLayout(program_);
    chosen_.resize(program_.buffers.size());
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      for (const int output : program_.steps[s].outputs) {
        ChooseFor(static_cast<int>(s), output);
      }
      ShareBorder(program_.steps[s]);
    }
    for (size_t s = program_.steps.size(); s-- > 0;) {
      JoinBorders(program_.steps[s]);
    }
    SetLayouts();
    return InsertLayoutCopies(program_, demands_) || changed_;
  }

 private:
  Shape ShapeOf(int buffer) const {
    return program_.buffers[buffer].type.shape;
  }

  void ChooseFor(int s, int buffer) {
    const int rank = ShapeOf(buffer).rank();
    Blocking choice = PlainBlocking(rank);
    const std::vector<Blocking> demands = demands_.On(buffer);
    Step& step = program_.steps[s];
    const bool internal = free_[buffer];
    if (demands_.KernelOf(s)) {
      choice = demands_.OfResult(s);
    } else if (internal && step.view) {
      choice = ForView(step, buffer, demands);
    } else if (internal && !demands.empty()) {
      choice = demands.front();
    } else if (internal && !ReadByView(buffer)) {
      choice = BlocksRead(step, buffer).value_or(choice);
    }
    for (const Blocking& demand : demands) {
      if (demand.SameBlock(choice)) choice.Enclose(demand);
    }
    chosen_[buffer] = choice;
  }

  // Outputs of one shape are computed in one sweep where their layouts agree:
  // one that is small beside the first takes over its border.
  void ShareBorder(const Step& step) {
    const int first = step.outputs[0];
    const auto bytes = [&](int buffer, const Blocking& blocking) {
      return blocking.For(ShapeOf(buffer)).elements() *
             SizeOf(program_.buffers[buffer].type.dtype);
    };
    for (const int output : step.outputs) {
      if (!free_[output]) continue;
      if (ShapeOf(output) != ShapeOf(first)) continue;
      Blocking& own = *chosen_[output];
      if (!own.SameBlock(*chosen_[first])) continue;
      Blocking wider = own;
      wider.Enclose(*chosen_[first]);
      const int64_t added = bytes(output, wider) - bytes(output, own);
      if (added * kSmallShare <= bytes(first, *chosen_[first])) own = wider;
    }
  }

  // Parts can lie in their concatenation, or in what they are sliced from
  // (place-parts), if all have the same border.
  void JoinBorders(const Step& step) {
    if (step.map() == nullptr || step.view) return;
    for (const Store& store : step.map()->stores) {
      const std::optional<BoxCopy> copy = MatchBoxCopy(store);
      if (!copy) continue;
      const int in = step.inputs[copy->input];
      const int out = step.outputs[store.output];
      if (MayLieIn(in, out) || MayLieIn(out, in)) {
        chosen_[in]->Enclose(*chosen_[out]);
        chosen_[out]->Enclose(*chosen_[in]);
      }
    }
  }

  // The part is cut along one axis.
  bool MayLieIn(int part, int whole) const {
    for (const int b : {part, whole}) {
      const bool free =
          free_[b] && chosen_[b] && !ReadByView(b) && !WrittenByView(b);
      if (!free) return false;
    }
    if (!chosen_[part]->SameBlock(*chosen_[whole])) return false;
    const Shape inner = ShapeOf(part), outer = ShapeOf(whole);
    int cuts = 0;
    for (int axis = 0; axis < outer.rank(); ++axis) {
      cuts += inner[axis] != outer[axis] ? 1 : 0;
    }
    return cuts == 1;
  }

  // A view whose readers all want one other layout copies into it at once.
  Blocking ForView(Step& step, int buffer,
                   const std::vector<Blocking>& demands) {
    const Blocking plain = PlainBlocking(ShapeOf(buffer).rank());
    if (demands.empty()) return plain;
    Blocking common = demands.front();
    for (const Blocking& demand : demands) {
      if (!demand.SameBlock(common)) return plain;
      common.Enclose(demand);
    }
    if (demands.size() != demands_.uses().ReadersOf(buffer).size())
      return plain;
    if (!common.For(ShapeOf(buffer)).row_major()) {
      step.view = false;
      changed_ = true;
    }
    return common;
  }

  bool ReadByView(int buffer) const {
    return std::ranges::any_of(demands_.uses().ReadersOf(buffer),
                               [&](int s) { return program_.steps[s].view; });
  }

  bool WrittenByView(int buffer) const {
    const int writer = demands_.uses().WriterOf(buffer);
    return writer >= 0 && program_.steps[writer].view;
  }

  // The blocks in which `step` reads to write `buffer`, where its own index
  // runs along them.
  std::optional<Blocking> BlocksRead(const Step& step, int buffer) const {
    const int rank = ShapeOf(buffer).rank();
    std::optional<Blocking> found;
    bool aligned = true;
    const auto visit = [&](const ExprNode& load) {
      const auto& read = chosen_[step.inputs[load.index]];
      if (!read || read->block == 1) return;
      const Expr& index = load.args[read->axis];
      const bool sum = index->kind == ExprKind::kBinary &&
                       index->binary == BinaryOp::kAdd &&
                       index->args[1]->kind == ExprKind::kConst;
      const Expr& var = sum ? index->args[0] : index;
      if (var->kind != ExprKind::kVar) return;
      const auto offset =
          sum ? static_cast<int64_t>(index->args[1]->number) : 0;
      if (offset % read->block != 0) aligned = false;
      // Lanes run along the last axis already, where it is whole blocks.
      if (var->index >= rank) return;
      const Shape shape = ShapeOf(buffer);
      if (var->index == rank - 1 && shape[rank - 1] % read->block == 0) return;
      Blocking own = PlainBlocking(rank);
      own.axis = var->index;
      own.block = read->block;
      if (!found) found = own;
    };
    if (const Map* map = step.map()) {
      for (const Store& store : map->stores) {
        if (step.outputs[store.output] == buffer) {
          VisitLoads(store.value, visit);
        }
      }
    } else {
      step.body.VisitExprs([&](const Expr& e) { VisitLoads(e, visit); });
    }
    return aligned ? found : std::nullopt;
  }

  void SetLayouts() {
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      Buffer& buffer = program_.buffers[b];
      if (!free_[b] || !chosen_[b]) continue;
      Layout layout = chosen_[b]->For(buffer.type.shape);
      if (buffer.layout == layout) continue;
      buffer.layout = std::move(layout);
      changed_ = true;
    }
  }

  Program& program_;
  const KernelDemands demands_;
  std::vector<bool> free_;  // by buffer: any layout will do
  std::vector<std::optional<Blocking>> chosen_;  // by buffer
  bool changed_ = false;
};

}  // namespace

Result<bool> AssignLayouts(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  const bool selected = std::ranges::any_of(program.steps, [](const Step& s) {
    return s.contraction() && !s.contraction()->choice.algorithm.empty();
  });
  if (!selected) return false;
  const bool changed = LayoutAssignment(program, *context.catalog).Run();
  return RemoveUnusedBuffers(program) || changed;
}

}  // namespace mxc
