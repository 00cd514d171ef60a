// SPDX-License-Identifier: Apache-2.0
#include "passes/layout_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/program/copy_step.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// At most one in so many of a constant's elements may be read out of order.
constexpr int64_t kFewElements = 16;

// A copy takes a launch, and what it saves is about half a nanosecond each.
constexpr int64_t kElementsToCopy = 1 << 16;

class LayoutCopies {
 public:
  LayoutCopies(Program& program, const KernelDemands& demands)
      : program_(program), demands_(demands) {}

  // True if it changed something.
  bool Run() {
    std::vector<Step> steps;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Step step = program_.steps[s];
      const int at = static_cast<int>(s);
      const std::optional<KernelCandidate>& kernel = demands_.KernelOf(at);
      if (!kernel) {
        steps.push_back(std::move(step));
        continue;
      }
      CopyOperand(step, 0, demands_.OnData(at), steps);
      if (kernel->weight_block != 0) {
        CopyOperand(step, 1, demands_.OnWeight(at), steps);
      } else {
        PackWeight(step, *kernel, steps);
      }
      const int output = step.outputs[0];
      const Blocking result = demands_.OfResult(at);
      if (!kernel->any_output && IsReadInRows(output, result)) {
        program_.buffers[output].layout = Layout::RowMajor(ShapeOf(output));
      }
      if (kernel->any_output || Satisfies(output, result)) {
        steps.push_back(std::move(step));
        continue;
      }
      // Wanted row-major, from a kernel that writes blocks.
      step.outputs[0] =
          AddBuffer(output, "blocked", result.For(ShapeOf(output)),
                    BufferKind::kInternal);
      Step copy = LayoutCopy(step, step.outputs[0], output);
      steps.push_back(std::move(step));
      steps.push_back(std::move(copy));
    }
    program_.steps = std::move(steps);
    for (const auto& [buffer, copies] : copies_) {
      if (copies.size() == 1) ReadCopy(buffer, copies[0].to);
    }
    return changed_;
  }

 private:
  Shape ShapeOf(int buffer) const {
    return program_.buffers[buffer].type.shape;
  }

  bool Satisfies(int buffer, const Blocking& demand) const {
    const Buffer& b = program_.buffers[buffer];
    Blocking present = PlainBlocking(b.type.shape.rank());
    present.low = b.layout.halo_low;
    present.high = b.layout.halo_high;
    present.axis = demand.axis;
    present.block = demand.block;
    Blocking needed = present;
    needed.Enclose(demand);
    return b.layout == needed.For(b.type.shape);
  }

  // Returns whether steps read a result that has its rows in lanes to write rows,
  // as the update of a weight does: a copy exchanges whole tiles of it, where those
  // would gather element by element.
  bool IsReadInRows(int buffer, const Blocking& result) const {
    const Shape shape = ShapeOf(buffer);
    const bool in_lanes = result.block > 1 && result.axis + 1 < shape.rank();
    if (!in_lanes || shape.elements() < kElementsToCopy) return false;
    if (program_.buffers[buffer].kind != BufferKind::kInternal) return false;
    const auto readers = demands_.uses().ReadersOf(buffer);
    return !readers.empty() && std::ranges::all_of(readers, [&](int s) {
      const Step& step = program_.steps[static_cast<size_t>(s)];
      return step.map() != nullptr && !step.view &&
             std::ranges::any_of(step.outputs, [&](int b) {
               const Buffer& written = program_.buffers[b];
               return written.type.shape == shape && written.layout.row_major();
             });
    });
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
    Step copy = CopyStep(program_, from, to, near.name + "/layout",
                         near.origins, near.loc);
    copy.backward = near.backward;
    return copy;
  }

  // Where an operand is not as the kernel asks, the step reads a copy that is;
  // the copy carries the border of all kernels that will share it.
  void CopyOperand(Step& step, int operand, Blocking demand,
                   std::vector<Step>& steps) {
    const int from = step.inputs[operand];
    if (Satisfies(from, demand)) return;
    for (const Blocking& other : demands_.On(from)) {
      if (other.SameBlock(demand)) demand.Enclose(other);
    }
    const Layout layout = demand.For(ShapeOf(from));
    int& copy = CopyOf(from, layout);
    if (copy < 0) {
      const bool constant = demand.is_whole() && program_.buffers[from].kind ==
                                                     BufferKind::kConstant;
      copy =
          AddBuffer(from, "layout", layout,
                    constant ? BufferKind::kConstant : BufferKind::kInternal);
      if (!constant) steps.push_back(LayoutCopy(step, from, copy));
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
    const BufferKind kind = program_.buffers[weight].kind;
    const bool constant = kind == BufferKind::kConstant;
    // A batch in parts has a copy for each of them: one that all share would be
    // kept from the first part to the last.
    const int part = constant ? -1 : step.part;
    int& packed = CopyOf(weight, layout, kernel.flipped_weight, part);
    if (packed < 0) {
      packed = AddBuffer(weight, "packed", layout,
                         constant ? kind : BufferKind::kInternal);
      MXC_CHECK(!constant || !kernel.flipped_weight, "{}", step.name);
      if (!constant) {
        steps.push_back(LayoutCopy(step, weight, packed));
        steps.back().part = part;
        if (kernel.flipped_weight) Flip(c.weight_axes, steps.back());
      }
    }
    step.inputs[1] = packed;
    changed_ = true;
  }

  // Steps that take few elements of a constant take them from its packed copy, if
  // it then need not lie twice: rows of a table that a last layer shares.
  void ReadCopy(int constant, int copy) {
    const bool constants =
        program_.buffers[constant].kind == BufferKind::kConstant &&
        program_.buffers[copy].kind == BufferKind::kConstant &&
        program_.buffers[copy].layout.basis == KernelBasis::kPlain;
    if (!constants) return;
    std::vector<Step*> readers;
    for (Step& step : program_.steps) {
      if (std::ranges::count(step.inputs, constant) == 0) continue;
      if (!TakesFew(step, constant)) return;
      readers.push_back(&step);
    }
    for (Step* step : readers) {
      std::ranges::replace(step->inputs, constant, copy);
    }
  }

  bool TakesFew(const Step& step, int constant) const {
    const Map* map = step.map();
    if (map == nullptr || step.view) return false;
    int64_t taken = 0;
    for (const Store& store : map->stores) {
      VisitLoads(store.value, [&](const ExprNode& load) {
        if (step.inputs[load.index] != constant) return;
        taken += ElementsOf(load, store, ShapeOf(constant));
      });
    }
    return taken <= ShapeOf(constant).elements() / kFewElements;
  }

  // How many elements a Load takes at most. What a reduction goes over may be a
  // whole axis.
  static int64_t ElementsOf(const ExprNode& load, const Store& store,
                            const Shape& shape) {
    int64_t elements = 1;
    std::set<int> counted;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (const int var : FreeVars(load.args[static_cast<size_t>(axis)])) {
        if (!counted.insert(var).second) continue;
        elements *= var < kFirstReductionVar
                        ? store.extent[static_cast<size_t>(var)]
                        : shape[axis];
      }
    }
    return elements;
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
  int& CopyOf(int buffer, const Layout& layout, bool flipped = false,
              int part = -1) {
    std::vector<Copy>& copies = copies_[buffer];
    for (Copy& copy : copies) {
      if (copy.layout == layout && copy.flipped == flipped &&
          copy.part == part) {
        return copy.to;
      }
    }
    copies.push_back({layout, flipped, part, -1});
    return copies.back().to;
  }

  struct Copy {
    Layout layout;
    bool flipped;
    int part;  // Step::part of who reads it; -1: any
    int to;
  };

  Program& program_;
  const KernelDemands& demands_;
  std::map<int, std::vector<Copy>> copies_;  // by buffer
  bool changed_ = false;
};

}  // namespace

bool InsertLayoutCopies(Program& program, const KernelDemands& demands) {
  return LayoutCopies(program, demands).Run();
}

}  // namespace mxc
