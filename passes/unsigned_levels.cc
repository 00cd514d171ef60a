// SPDX-License-Identifier: Apache-2.0
// unsigned-levels: values of i8 that contractions multiply are of u8.
//
// Those that are never negative, bit for bit:
//
//   y  i8[…] = i8(max(f32(i8(round(x))), 0))        y  u8[…] = u8(max(round(x), 0))
//   z = conv(y, w), data of i8                 ⇒    z = conv(y, w), data of u8
//
// Others 128 above, of which each sum has as much too much as its weights say:
//
//   y  i8[…] = i8(round(x))                         y  u8[…] = u8(round(x) + 128)
//   z[m] = Σ y·w, data of i8                   ⇒    z[m] = Σ y·w - s[m]
//                                                   s[m] = 128 Σ w, a constant
//
// MXNet's sums of layers keep the type of what they are added to, and relu
// follows. Units that multiply data of u8 add 128 to those of i8 each time, and
// add up what that is too much. Integers wrap alike, so that all sums are the
// same. Zeros around data would have to be 128: only windows that never leave
// them are read so.
//
// Runs when fusion is done, so that relu is part of the step that writes y.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/float_bounds.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Of a number of i8 to one of u8.
constexpr int64_t kShift = 128;

bool IsCast(const Expr& e, DType to) {
  return e->kind == ExprKind::kCast && e->dtype == to;
}

bool IsExtremum(const Expr& e) {
  return e->kind == ExprKind::kBinary &&
         (e->binary == BinaryOp::kMax || e->binary == BinaryOp::kMin);
}

// The same whole number, of a float that becomes an integer: without being one in
// between. Which zero it is does not matter then.
Expr WithoutDetour(const Expr& e) {
  if (IsExtremum(e)) {
    return Binary(e->binary, WithoutDetour(e->args[0]),
                  WithoutDetour(e->args[1]));
  }
  if (e->kind != ExprKind::kCast) return e;
  const Expr& integer = e->args[0];
  if (integer->kind != ExprKind::kCast || IsFloat(integer->dtype)) return e;
  const Expr& whole = integer->args[0];
  const bool is_same =
      whole->dtype == e->dtype && whole->kind == ExprKind::kUnary &&
      whole->unary == UnaryOp::kRoundEven && FitsInteger(whole, integer->dtype);
  return is_same ? whole : e;
}

// Of a value of i8.
bool IsRounded(const Expr& value) {
  return IsCast(value, DType::kI8) && IsFloat(value->args[0]->dtype) &&
         FitsInteger(value->args[0], DType::kI8);
}

bool IsNeverNegative(const Expr& value) {
  return IsRounded(value) && FitsInteger(value->args[0], DType::kU8);
}

Expr AsUnsigned(const Expr& value, int64_t shift) {
  const Expr whole = WithoutDetour(value->args[0]);
  return Cast(shift == 0 ? whole : whole + Lit(shift, whole), DType::kU8);
}

// What a step of u8 has read, as the number that it stands for.
Expr LevelOf(const Expr& load, DType dtype, int64_t shift) {
  if (shift == 0) return Cast(load, dtype);
  if (dtype == DType::kI8) {
    return Cast(LevelOf(load, DType::kI32, shift), dtype);
  }
  const Expr level = Cast(load, dtype);
  return level - Lit(shift, level);
}

// With operand `operand`, of i8, read as u8.
Expr ReadUnsigned(const Expr& e, int operand, int64_t shift) {
  const auto is_read = [&](const Expr& x) {
    return IsCast(x, DType::kI8) && x->args[0]->kind == ExprKind::kLoad &&
           x->args[0]->index == operand && x->args[0]->dtype == DType::kU8;
  };
  const Expr read = Rewrite(e, [&](const Expr& node) -> Expr {
    if (node->kind == ExprKind::kLoad && node->index == operand) {
      return Cast(Load(operand, DType::kU8, node->args), DType::kI8);
    }
    // Whole, it is the same number in any type.
    if (node->kind == ExprKind::kCast && is_read(node->args[0])) {
      return LevelOf(node->args[0]->args[0], node->dtype, shift);
    }
    return Expr();
  });
  return Rewrite(read, [&](const Expr& node) -> Expr {
    return is_read(node) ? LevelOf(node->args[0], DType::kI8, shift) : Expr();
  });
}

// The axis of the weight's, or of the output's, on which channels out lie.
int AxisOfOut(const std::vector<Role>& axes) {
  const auto at = std::ranges::find_if(axes, [](Role role) {
    return role == Role::kOut || role == Role::kGroupOut;
  });
  return static_cast<int>(at - axes.begin());
}

// By how much each channel's sum is too large.
Tensor SumsOfShift(const Tensor& weight, int axis) {
  const Shape& shape = weight.shape();
  const int64_t channels = shape[axis];
  int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  std::vector<int64_t> sums(static_cast<size_t>(channels), 0);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    sums[static_cast<size_t>(i / inner % channels)] +=
        static_cast<int64_t>(weight.At(i));
  }
  std::byte* to = nullptr;
  Tensor shifts = Tensor::Allocate({DType::kI32, Shape({channels})}, &to);
  for (int64_t c = 0; c < channels; ++c) {
    const auto wrapped =
        static_cast<int32_t>(kShift * sums[static_cast<size_t>(c)]);
    StoreElement(to + c * SizeOf(DType::kI32), DType::kI32, wrapped);
  }
  return shifts;
}

// Its windows never leave data, and what they are multiplied by is known.
bool CanBeShifted(const Program& program, const Step& reader) {
  const Contraction& c = reader.contraction()->contraction;
  if (program.buffers[reader.inputs[1]].kind != BufferKind::kConstant ||
      c.groups != 1 || c.int4_group != 0 || c.types.sum != DType::kI32) {
    return false;
  }
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int64_t last = (c.output[i] - 1) * c.stride[i] +
                         (c.kernel[i] - 1) * c.dilate[i] - c.pad[i];
    if (c.data_dilate[i] != 1 || c.pad[i] > 0 || last >= c.input[i]) {
      return false;
    }
  }
  return true;
}

// A value that is what a step loads.
bool IsMoved(const Expr& value) { return value->kind == ExprKind::kLoad; }

// What a step stores into its output `output`; empty: not by expressions.
std::vector<Expr*> ValuesOf(Step& step, int output) {
  if (ContractionStep* body = step.contraction()) return {&body->epilogue};
  std::vector<Expr*> values;
  if (Map* map = step.map()) {
    for (Store& store : map->stores) {
      if (step.outputs[static_cast<size_t>(store.output)] == output) {
        values.push_back(&store.value);
      }
    }
  }
  return values;
}

class UnsignedLevelsOf {
 public:
  UnsignedLevelsOf(Program& program, const KernelCatalog& catalog)
      : program_(program),
        catalog_(catalog),
        readers_(program.buffers.size()),
        writers_(program.buffers.size()) {
    for (Step& step : program.steps) {
      for (const int input : step.inputs) {
        auto& readers = readers_[input];
        if (readers.empty() || readers.back() != &step)
          readers.push_back(&step);
      }
      for (const int output : step.outputs) writers_[output].push_back(&step);
    }
  }

  bool Run() {
    bool changed = false;
    std::set<int> seen;
    const auto count = static_cast<int>(program_.buffers.size());
    for (int b = 0; b < count; ++b) {
      if (!IsSigned(b) || seen.contains(b)) continue;
      const std::set<int> group = GroupOf(b);
      seen.insert(group.begin(), group.end());
      for (const int64_t shift : {int64_t{0}, kShift}) {
        if (!IsUnsigned(group, shift)) continue;
        MakeUnsigned(group, shift);
        changed = true;
        break;
      }
    }
    return changed;
  }

 private:
  bool IsSigned(int buffer) const {
    const Buffer& b = program_.buffers[buffer];
    return b.kind == BufferKind::kInternal && b.type.dtype == DType::kI8 &&
           writers_[buffer].size() == 1;
  }

  // Buffers that hold the same values, since steps only move them.
  std::set<int> GroupOf(int buffer) const {
    std::set<int> group;
    std::vector<int> open = {buffer};
    const auto join = [&](int b) {
      if (IsSigned(b) && group.insert(b).second) open.push_back(b);
    };
    join(buffer);
    while (!open.empty()) {
      const int b = open.back();
      open.pop_back();
      Step& writer = *writers_[b][0];
      for (const Expr* value : ValuesOf(writer, b)) {
        if (IsMoved(*value)) join(writer.inputs[(*value)->index]);
      }
      for (Step* reader : readers_[b]) {
        if (reader->map() == nullptr) continue;
        for (const int output : reader->outputs) {
          if (MovesFrom(*reader, b, output)) join(output);
        }
      }
    }
    return group;
  }

  static bool MovesFrom(Step& step, int buffer, int output) {
    return std::ranges::any_of(ValuesOf(step, output), [&](const Expr* value) {
      return IsMoved(*value) && step.inputs[(*value)->index] == buffer;
    });
  }

  bool IsUnsigned(const std::set<int>& group, int64_t shift) const {
    bool is_faster = false;
    for (const int buffer : group) {
      if (!IsWritten(group, buffer, shift)) return false;
      for (const Step* reader : readers_[buffer]) {
        const ContractionStep* body = reader->contraction();
        if (body == nullptr) {
          const bool keeps_views =
              !reader->view || group.contains(reader->outputs[0]);
          if (reader->map() == nullptr || !keeps_views) return false;
          continue;
        }
        if (reader->inputs[1] == buffer) return false;
        if (reader->inputs[0] != buffer) continue;
        if (shift != 0 && !CanBeShifted(program_, *reader)) return false;
        const auto [before, after] = Seconds(*reader);
        if (!after || (before && *after > *before)) return false;
        is_faster |= shift == 0 || !before || *after < *before;
      }
    }
    return is_faster;
  }

  bool IsWritten(const std::set<int>& group, int buffer, int64_t shift) const {
    Step& writer = *writers_[buffer][0];
    const auto values = ValuesOf(writer, buffer);
    return !values.empty() &&
           std::ranges::all_of(values, [&](const Expr* value) {
             if (IsMoved(*value)) {
               return group.contains(writer.inputs[(*value)->index]);
             }
             if (writer.view) return false;
             return shift == 0 ? IsNeverNegative(*value) : IsRounded(*value);
           });
  }

  struct Times {
    std::optional<double> before, after;
  };

  // Of reading data of i8, and of u8.
  Times Seconds(const Step& reader) const {
    const Contraction& c = reader.contraction()->contraction;
    Contraction other = c;
    other.types.data = DType::kU8;
    const bool constant =
        program_.buffers[reader.inputs[1]].kind == BufferKind::kConstant;
    return {KernelSeconds(catalog_, c, constant),
            KernelSeconds(catalog_, other, constant)};
  }

  void MakeUnsigned(const std::set<int>& group, int64_t shift) {
    std::set<Step*> steps;
    for (const int buffer : group) {
      program_.buffers[buffer].type.dtype = DType::kU8;
      steps.insert(writers_[buffer][0]);
      steps.insert(readers_[buffer].begin(), readers_[buffer].end());
    }
    for (Step* step : steps) Retype(*step, group, shift);
  }

  void Retype(Step& step, const std::set<int>& group, int64_t shift) {
    if (ContractionStep* body = step.contraction()) {
      const bool writes = group.contains(step.outputs[0]);
      RetypeStored(step, group, writes, shift, body->epilogue);
      if (writes) body->contraction.types.output = DType::kU8;
      if (group.contains(step.inputs[0])) ReadData(step, shift);
      return;
    }
    for (auto& store : step.map()->stores) {
      const int output = step.outputs[static_cast<size_t>(store.output)];
      RetypeStored(step, group, group.contains(output), shift, store.value);
    }
  }

  // `value`, which `step` stores, into a buffer of the group if it `writes`.
  static void RetypeStored(const Step& step, const std::set<int>& group,
                           bool writes, int64_t shift, Expr& value) {
    if (writes && IsMoved(value)) {
      value = Load(value->index, DType::kU8, value->args);
      return;
    }
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (!group.contains(step.inputs[i])) continue;
      value = ReadUnsigned(value, static_cast<int>(i), shift);
    }
    if (writes) value = AsUnsigned(value, shift);
  }

  void ReadData(Step& step, int64_t shift) {
    ContractionStep& body = *step.contraction();
    Contraction& c = body.contraction;
    c.types.data = DType::kU8;
    if (shift == 0) return;
    const auto operand = static_cast<int>(step.inputs.size());
    step.inputs.push_back(SumsOf(step.inputs[1], AxisOfOut(c.weight_axes)));
    const Expr sum = Acc(DType::kI32) - Load(operand, DType::kI32,
                                             {Var(AxisOfOut(c.output_axes))});
    body.epilogue = Rewrite(body.epilogue, [&](const Expr& e) -> Expr {
      return e->kind == ExprKind::kAcc ? sum : Expr();
    });
  }

  // The constant that is too much in sums over a weight, once for all that read it.
  int SumsOf(int weight, int axis) {
    const auto [found, is_new] = sums_.try_emplace({weight, axis}, -1);
    if (!is_new) return found->second;
    const Buffer from = program_.buffers[weight];
    const TensorType type = {DType::kI32, Shape({from.type.shape[axis]})};
    found->second =
        AddBuffer(program_, from.name + "/shift", type, BufferKind::kConstant);
    program_.buffers[found->second].constant = Tensor::Deferred(
        type,
        [weight = from.constant, axis] { return SumsOfShift(weight, axis); });
    return found->second;
  }

  Program& program_;
  const KernelCatalog& catalog_;
  std::vector<std::vector<Step*>> readers_, writers_;  // by buffer
  std::map<std::pair<int, int>, int> sums_;            // by weight and its axis
};

}  // namespace

Result<bool> UnsignedLevels(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  return UnsignedLevelsOf(program, *context.catalog).Run();
}

}  // namespace mxc
