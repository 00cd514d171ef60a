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
// Where what is read of the later one has been narrowed (a sum of integers in so
// many levels) it is stored so, and the earlier one absorbs the reader:
//
//   conv1 ─► a  f32[…]                       conv2 {i8(acc)} ─► b  i8[…]
//   conv2 {a + f32(i8(acc))} ─► y     ⇒      conv1 {acc + f32(b)} ─► y
//
// A reader of the result under another shape is moved before the view:
//
//   fc ─► [2, 64, 768] ─► + b ─► y    ⇒    fc {acc + b} ─► [2, 64, 768] = y
//
// It reads other tensors of that shape as the contraction's, through views of
// their own. Runs again when elementwise steps have become one.
#include <algorithm>
#include <optional>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/reshaped_view.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// Returns whether the step computes one tensor, each element without
// reductions.
bool IsElementwise(const Step& step) {
  const Map* map = step.map();
  return map != nullptr && !step.view && step.outputs.size() == 1 &&
         map->stores.size() == 1 && !HasReduce(map->stores[0].value);
}

// Returns whether `reader` computes, element by element, a function of
// `buffer`.
bool IsPointwiseIn(const Program& program, const Step& reader, int buffer) {
  if (!IsElementwise(reader)) return false;
  const Shape& out = program.buffers[reader.outputs[0]].type.shape;
  if (out != program.buffers[buffer].type.shape) return false;
  bool identity = true;
  VisitLoads(reader.map()->stores[0].value, [&](const ExprNode& load) {
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

// Returns whether all indices that are divided are numbers of groups: the tiles
// of a kernel lie in one.
bool DividesGroupsAlone(const Contraction& c, const Expr& value) {
  return std::ranges::all_of(DividedVariables(value), [&](int var) {
    return c.output_axes[static_cast<size_t>(var)] == Role::kGroup;
  });
}

bool ReadsAcc(const Expr& e) {
  bool reads = false;
  Rewrite(e, [&](const Expr& part) -> Expr {
    reads = reads || part->kind == ExprKind::kAcc;
    return {};
  });
  return reads;
}

bool Reads(const Expr& e, int operand) {
  bool reads = false;
  VisitLoads(
      e, [&](const ExprNode& load) { reads = reads || load.index == operand; });
  return reads;
}

// `e` with `value` for each part that equals `part`.
Expr With(const Expr& e, const Expr& part, const Expr& value) {
  return Rewrite(
      e, [&](const Expr& at) { return Equal(at, part) ? value : Expr(); });
}

// The part of an epilogue through which alone it depends on its contraction's
// sum, of elements of fewer than `bytes`, that does not read the operand. Null:
// there is none.
Expr NarrowedPart(const Expr& epilogue, int operand, int64_t bytes) {
  Expr found;
  Rewrite(epilogue, [&](const Expr& part) -> Expr {
    const bool is_narrow =
        part->kind == ExprKind::kCast && SizeOf(part->dtype) < bytes;
    if (is_narrow && ReadsAcc(part) && !Reads(part, operand) &&
        !ReadsAcc(With(epilogue, part, Constant(0, part->dtype)))) {
      found = part;
      bytes = SizeOf(part->dtype);
    }
    return {};
  });
  return found;
}

class EpilogueFusion {
 public:
  explicit EpilogueFusion(Program& program)
      : program_(program), uses_(program) {}

  bool Run() {
    bool changed = false;
    // Backwards, so that the later of two contractions comes first. A fused one
    // is where its reader was, and may absorb the next.
    for (size_t s = program_.steps.size(); s-- > 0;) {
      std::optional<int> place = static_cast<int>(s);
      while (program_.steps[*place].contraction() &&
             (place = AbsorbReader(*place))) {
        changed = true;
      }
    }
    uses_.Close();
    return changed;
  }

 private:
  // The place of the fused step, or nothing.
  std::optional<int> AbsorbReader(int step) {
    const Step& contraction = program_.steps[step];
    const int buffer = contraction.outputs[0];
    if (!IsInternal(buffer)) return std::nullopt;
    const int place = uses_.OnlyReaderOf(buffer);
    if (place < 0) return std::nullopt;
    const Step& reader = program_.steps[place];
    if (reader.contraction()) return AbsorbCombination(step, place);
    if (reader.view) {
      const int seen = reader.outputs[0];
      const int of_view = IsInternal(seen) ? uses_.OnlyReaderOf(seen) : -1;
      if (of_view < 0) return std::nullopt;
      return AbsorbReshaped(step, place, seen, of_view);
    }
    if (!IsPointwiseIn(program_, reader, buffer)) {
      return AbsorbReshaped(step, -1, buffer, place);
    }
    Step fused = Absorbing(contraction, reader);
    if (TooLarge(fused)) return std::nullopt;
    uses_.Remove(step);
    uses_.Replace(place, std::move(fused));
    return place;
  }

  // The reader is a contraction that combines both results.
  std::optional<int> AbsorbCombination(int step, int place) {
    const Step& contraction = program_.steps[step];
    const Step& reader = program_.steps[place];
    const int buffer = contraction.outputs[0];
    const TensorType type = program_.buffers[buffer].type;
    const int rank = type.shape.rank();
    const auto operand = static_cast<int>(
        std::ranges::find(reader.inputs, buffer) - reader.inputs.begin());
    const Expr& epilogue = reader.contraction()->epilogue;
    const Expr result = Load(operand, type.dtype, IdentityIndex(rank));
    const Expr others = With(epilogue, result, Constant(0, type.dtype));
    const Expr both =
        With(epilogue, result, contraction.contraction()->epilogue);
    const Expr part = NarrowedPart(epilogue, operand, SizeOf(type.dtype));
    if (operand < FixedOperands(reader) || !part || Reads(others, operand) ||
        program_.buffers[reader.outputs[0]].type.shape != type.shape ||
        TreeSize(both) > kMaxTreeSize) {
      return std::nullopt;
    }
    Step narrow = reader, combination = reader;
    narrow.contraction()->epilogue = part;
    narrow.contraction()->contraction.types.output = part->dtype;
    narrow.outputs = {AddBuffer(program_, reader.name + "/narrow",
                                {part->dtype, type.shape})};
    TidyOperands(narrow);
    const Expr read = Load(OperandOf(combination, narrow.outputs[0]),
                           part->dtype, IdentityIndex(rank));
    combination.body = Map{
        {{0, Extents(rank, 0), type.shape.dims(), With(epilogue, part, read)}}};
    Step fused = Absorbing(contraction, combination);
    uses_.MoveBefore(step, place);
    uses_.Replace(place - 1, std::move(narrow));
    uses_.Replace(place, std::move(fused));
    return place;
  }

  // The reader of `seen`, the result or what a step `view` makes of it (-1:
  // none), computes in the shape of the result, and what it stored becomes a
  // view.
  std::optional<int> AbsorbReshaped(int step, int view, int seen, int place) {
    const Step& reader = program_.steps[place];
    if (!IsElementwise(reader) || !IsInternal(reader.outputs[0])) {
      return std::nullopt;
    }
    const int output = reader.outputs[0];
    std::vector<int> viewed;
    const std::optional<Step> moved = InShapeOf(step, seen, place, viewed);
    // Beside those of the fused step and of the view there is one place more.
    const size_t places = view < 0 ? 0 : 1;
    if (!moved || viewed.size() > places) return std::nullopt;
    Step fused = Absorbing(program_.steps[step], *moved);
    if (TooLarge(fused)) return std::nullopt;
    const Shape shape =
        program_.buffers[program_.steps[step].outputs[0]].type.shape;
    const auto add = [&](int like, const char* what) {
      const Buffer& buffer = program_.buffers[like];
      return AddBuffer(program_, buffer.name + what,
                       {buffer.type.dtype, shape});
    };
    fused.outputs = {add(output, "/result")};
    Step operand;
    if (!viewed.empty()) {
      const int as_result = add(viewed[0], "/operand");
      std::ranges::replace(fused.inputs, viewed[0], as_result);
      operand = ViewStep(program_, viewed[0], as_result, fused);
    }
    Step back = ViewStep(program_, fused.outputs[0], output, fused);
    uses_.Replace(step, std::move(operand));
    if (view >= 0) {
      uses_.Remove(view);
      uses_.MoveBefore(view, place);
      uses_.MoveBefore(step, place - 1);
    } else {
      uses_.MoveBefore(step, place);
    }
    uses_.Replace(place - 1, std::move(fused));
    uses_.Replace(place, std::move(back));
    return place - 1;
  }

  // The step at `place`, which reads `seen`, over the indices of the
  // contraction's result, which it reads instead. `viewed`: what it is to read
  // as such a shape, too. Nothing where it cannot be.
  std::optional<Step> InShapeOf(int step, int seen, int place,
                                std::vector<int>& viewed) const {
    const Step& contraction = program_.steps[step];
    const int buffer = contraction.outputs[0];
    const Shape& shape = program_.buffers[buffer].type.shape;
    Step moved = program_.steps[place];
    const Shape& from = program_.buffers[moved.outputs[0]].type.shape;
    if (from.elements() != shape.elements()) return std::nullopt;
    const std::vector<Expr> index = ReshapedIndex(shape, from);
    const std::vector<Expr> identity = IdentityIndex(shape.rank());
    Store& store = moved.map()->stores[0];
    store = ReshapedStore(store, from, shape);
    bool possible = true;
    store.value = Rewrite(store.value, [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::kLoad) return {};
      const int input = moved.inputs[e->index];
      const bool own = program_.buffers[input].type.shape == from &&
                       std::ranges::equal(e->args, index, Equal);
      const bool result =
          input == buffer && std::ranges::equal(e->args, identity, Equal);
      if (!own && !result) {
        possible = possible && input != seen;
        return {};
      }
      if (input != seen && std::ranges::find(viewed, input) == viewed.end()) {
        viewed.push_back(input);
      }
      return Load(e->index, e->dtype, identity);
    });
    if (!possible || !DividesGroupsAlone(contraction.contraction()->contraction,
                                         store.value)) {
      return std::nullopt;
    }
    std::ranges::replace(moved.inputs, seen, buffer);
    return moved;
  }

  bool IsInternal(int buffer) const {
    return program_.buffers[buffer].kind == BufferKind::kInternal;
  }

  static bool TooLarge(const Step& fused) {
    return TreeSize(fused.contraction()->epilogue) > kMaxTreeSize;
  }

  Program& program_;
  StepUses uses_;
};

}  // namespace

Result<bool> FuseEpilogue(Program& program, PassContext&) {
  return EpilogueFusion(program).Run();
}

}  // namespace mxc
