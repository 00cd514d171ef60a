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
//     lays the bytes out when it writes the artifact.
#include <algorithm>
#include <map>
#include <optional>

#include "ir/program/copy_step.h"
#include "ir/program/in_place.h"
#include "passes/dead_code.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// A block on one axis, and the border that a reader needs at least.
struct Blocking {
  int axis = 0;
  int64_t block = 1;
  Extents low, high;  // for each axis of the tensor

  bool SameBlock(const Blocking& other) const {
    return block == other.block && (block == 1 || axis == other.axis);
  }
  void Cut(int at, int64_t into) {
    axis = into > 1 ? at : 0;
    block = into;
  }
  void Enclose(const Blocking& other) {
    for (size_t a = 0; a < low.size(); ++a) {
      low[a] = std::max(low[a], other.low[a]);
      high[a] = std::max(high[a], other.high[a]);
    }
  }
  Layout For(const Shape& shape) const {
    return Layout::Blocked(shape, axis, block).WithHalo(low, high);
  }
};

// What another output's border may cost, of that output's bytes.
constexpr int64_t kSmallShare = 8;

Blocking Plain(int rank) { return {0, 1, Extents(rank, 0), Extents(rank, 0)}; }

class LayoutAssignment {
 public:
  LayoutAssignment(Program& program, const KernelCatalog& catalog)
      : program_(program), catalog_(catalog), uses_(program) {}

  // True if it changed something.
  bool Run() {
    FindFree();
    FindCandidates();
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
    InsertCopies();
    return changed_;
  }

 private:
  // Operands of steps that take no other layout stay row-major.
  void FindFree() {
    for (const Buffer& buffer : program_.buffers) {
      free_.push_back(buffer.kind == BufferKind::kInternal);
    }
    for (const Step& step : program_.steps) {
      if (step.body.any_layout()) continue;
      for (const int b : step.operands()) free_[b] = false;
    }
  }

  void FindCandidates() {
    candidates_.resize(program_.steps.size());
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const ContractionStep* body = program_.steps[s].contraction();
      if (body == nullptr || body->choice.algorithm.empty()) continue;
      for (KernelCandidate& c : catalog_.Candidates(body->contraction)) {
        if (c.choice != body->choice) continue;
        candidates_[s] = std::move(c);
        break;
      }
      MXC_CHECK(candidates_[s].has_value(), "{}", program_.steps[s].name);
    }
  }

  Shape ShapeOf(int buffer) const {
    return program_.buffers[buffer].type.shape;
  }

  // What the kernel of step `s` asks of its data.
  Blocking DataDemand(int s) const {
    const std::vector<Role>& axes =
        program_.steps[s].contraction()->contraction.data_axes;
    Blocking demand = Plain(static_cast<int>(axes.size()));
    demand.Cut(candidates_[s]->data_axis, candidates_[s]->data_block);
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (axes[axis] < Role::kSpatial0) continue;
      const size_t k = static_cast<size_t>(axes[axis]) -
                       static_cast<size_t>(Role::kSpatial0);
      if (k < candidates_[s]->halo_low.size()) {
        demand.low[axis] = candidates_[s]->halo_low[k];
        demand.high[axis] = candidates_[s]->halo_high[k];
      }
    }
    return demand;
  }

  // What it asks of its weight, if it takes it as other steps leave it.
  Blocking WeightDemand(int s) const {
    Blocking demand = Plain(ShapeOf(program_.steps[s].inputs[1]).rank());
    demand.Cut(candidates_[s]->weight_axis, candidates_[s]->weight_block);
    return demand;
  }

  Blocking ResultOf(int s) const {
    Blocking result = Plain(ShapeOf(program_.steps[s].outputs[0]).rank());
    result.Cut(candidates_[s]->output_axis, candidates_[s]->output_block);
    return result;
  }

  // The demands of all kernels that read `buffer` as an activation, first as
  // their data: those may ask for a border.
  std::vector<Blocking> DemandsOn(int buffer) const {
    std::vector<Blocking> demands, others;
    for (const int s : uses_.ReadersOf(buffer)) {
      if (!candidates_[s]) continue;
      const std::vector<int>& inputs = program_.steps[s].inputs;
      if (inputs[0] == buffer) demands.push_back(DataDemand(s));
      if (inputs[1] == buffer && candidates_[s]->weight_block > 0) {
        others.push_back(WeightDemand(s));
      }
    }
    demands.insert(demands.end(), others.begin(), others.end());
    return demands;
  }

  void ChooseFor(int s, int buffer) {
    const int rank = ShapeOf(buffer).rank();
    Blocking choice = Plain(rank);
    const std::vector<Blocking> demands = DemandsOn(buffer);
    Step& step = program_.steps[s];
    const bool internal = free_[buffer];
    if (candidates_[s]) {
      choice = ResultOf(s);
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
    const Blocking plain = Plain(ShapeOf(buffer).rank());
    if (demands.empty()) return plain;
    Blocking common = demands.front();
    for (const Blocking& demand : demands) {
      if (!demand.SameBlock(common)) return plain;
      common.Enclose(demand);
    }
    if (demands.size() != uses_.ReadersOf(buffer).size()) return plain;
    if (!common.For(ShapeOf(buffer)).row_major()) {
      step.view = false;
      changed_ = true;
    }
    return common;
  }

  bool ReadByView(int buffer) const {
    return std::ranges::any_of(uses_.ReadersOf(buffer),
                               [&](int s) { return program_.steps[s].view; });
  }

  bool WrittenByView(int buffer) const {
    const int writer = uses_.WriterOf(buffer);
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
      Blocking own = Plain(rank);
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

  bool Satisfies(int buffer, const Blocking& demand) const {
    const Buffer& b = program_.buffers[buffer];
    Blocking present = Plain(b.type.shape.rank());
    present.low = b.layout.halo_low;
    present.high = b.layout.halo_high;
    present.axis = demand.axis;
    present.block = demand.block;
    Blocking needed = present;
    needed.Enclose(demand);
    return b.layout == needed.For(b.type.shape);
  }

  int AddBuffer(int like, std::string_view role, Layout layout,
                BufferKind kind) {
    Buffer buffer = program_.buffers[like];
    buffer.name += fmt::format("/{}", role);
    buffer.layout = std::move(layout);
    buffer.kind = kind;
    buffer.state = -1;
    if (kind != BufferKind::kConstant) buffer.constant = {};
    program_.buffers.push_back(std::move(buffer));
    changed_ = true;
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  Step LayoutCopy(const Step& near, int from, int to) const {
    return CopyStep(program_, from, to, near.name + "/layout", near.origins,
                    near.loc);
  }

  void InsertCopies() {
    std::vector<Step> steps;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Step step = program_.steps[s];
      if (!candidates_[s]) {
        steps.push_back(std::move(step));
        continue;
      }
      CopyOperand(step, 0, DataDemand(static_cast<int>(s)), steps);
      if (candidates_[s]->weight_block > 0) {
        CopyOperand(step, 1, WeightDemand(static_cast<int>(s)), steps);
      } else {
        PackWeight(step, *candidates_[s], steps);
      }
      const int output = step.outputs[0];
      const Blocking result = ResultOf(static_cast<int>(s));
      if (Satisfies(output, result)) {
        steps.push_back(std::move(step));
        continue;
      }
      // The caller's row-major output, from a kernel that writes blocks.
      step.outputs[0] =
          AddBuffer(output, "blocked", result.For(ShapeOf(output)),
                    BufferKind::kInternal);
      Step copy = LayoutCopy(step, step.outputs[0], output);
      steps.push_back(std::move(step));
      steps.push_back(std::move(copy));
    }
    program_.steps = std::move(steps);
  }

  // Where an operand is not as the kernel asks, the step reads a copy that is;
  // the copy carries the border of all kernels that will share it.
  void CopyOperand(Step& step, int operand, Blocking demand,
                   std::vector<Step>& steps) {
    const int from = step.inputs[operand];
    if (Satisfies(from, demand)) return;
    for (const Blocking& other : DemandsOn(from)) {
      if (other.SameBlock(demand)) demand.Enclose(other);
    }
    const Layout layout = demand.For(ShapeOf(from));
    int& copy = CopyOf(from, layout);
    if (copy < 0) {
      copy = AddBuffer(from, "layout", layout, BufferKind::kInternal);
      program_.buffers[copy].constant = {};
      steps.push_back(LayoutCopy(step, from, copy));
    }
    step.inputs[operand] = copy;
    changed_ = true;
  }

  void PackWeight(Step& step, const KernelCandidate& kernel,
                  std::vector<Step>& steps) {
    const int weight = step.inputs[1];
    const Layout& layout = kernel.weight;
    Contraction& c = step.contraction()->contraction;
    if (kernel.flipped_weight) {
      changed_ |= c.flip;
      c.flip = false;
    }
    if (!kernel.flipped_weight && program_.buffers[weight].layout == layout)
      return;
    int& packed = CopyOf(weight, layout, kernel.flipped_weight);
    if (packed < 0) {
      const BufferKind kind = program_.buffers[weight].kind;
      const bool constant = kind == BufferKind::kConstant;
      packed = AddBuffer(weight, "packed", layout,
                         constant ? kind : BufferKind::kInternal);
      MXC_CHECK(!constant || !kernel.flipped_weight, "{}", step.name);
      if (!constant) {
        steps.push_back(LayoutCopy(step, weight, packed));
        if (kernel.flipped_weight) Flip(c.weight_axes, steps.back());
      }
    }
    step.inputs[1] = packed;
    changed_ = true;
  }

  // The copy reads its spatial axes from the end.
  void Flip(const std::vector<Role>& axes, Step& copy) const {
    Expr& value = copy.map()->stores[0].value;
    std::vector<Expr> index = value->args;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (axes[axis] < Role::kSpatial0) continue;
      const int64_t last = ShapeOf(copy.inputs[0])[static_cast<int>(axis)] - 1;
      index[axis] = Expr(last) - index[axis];
    }
    value = Load(0, value->dtype, std::move(index));
  }

  // The entry of the buffer's copy in that layout, -1 where there is none yet.
  int& CopyOf(int buffer, const Layout& layout, bool flipped = false) {
    std::vector<Copy>& copies = copies_[buffer];
    for (Copy& copy : copies) {
      if (copy.layout == layout && copy.flipped == flipped) return copy.to;
    }
    copies.push_back({layout, flipped, -1});
    return copies.back().to;
  }

  struct Copy {
    Layout layout;
    bool flipped;
    int to;
  };

  Program& program_;
  const KernelCatalog& catalog_;
  const StepUses uses_;     // as the steps were before copies were inserted
  std::vector<bool> free_;  // by buffer: any layout will do
  std::vector<std::optional<KernelCandidate>> candidates_;  // by step
  std::vector<std::optional<Blocking>> chosen_;             // by buffer
  std::map<int, std::vector<Copy>> copies_;                 // by buffer
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
