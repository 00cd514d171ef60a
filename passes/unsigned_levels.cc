// SPDX-License-Identifier: Apache-2.0
// unsigned-levels: values of i8 that are never negative are of u8, bit for bit.
//
//   y  i8[…] = i8(max(f32(i8(round(x))), 0))        y  u8[…] = u8(max(round(x), 0))
//   z = conv(y, w), data of i8                 ⇒    z = conv(y, w), data of u8
//
// MXNet's sums of layers keep the type of what they are added to, and relu
// follows. Units that multiply data of u8 do more to those of i8.
//
// Runs when fusion is done, so that relu is part of the step that writes y.
#include <algorithm>
#include <vector>

#include "ir/program/float_bounds.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"

namespace mxc {
namespace {

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
bool IsNeverNegative(const Expr& value) {
  return IsCast(value, DType::kI8) && IsFloat(value->args[0]->dtype) &&
         FitsInteger(value->args[0], DType::kI8) &&
         FitsInteger(value->args[0], DType::kU8);
}

Expr AsUnsigned(const Expr& value) {
  return Cast(WithoutDetour(value->args[0]), DType::kU8);
}

// With operand `operand`, of i8, read as u8.
Expr ReadUnsigned(const Expr& e, int operand) {
  const auto is_read = [&](const Expr& x) {
    return IsCast(x, DType::kI8) && x->args[0]->kind == ExprKind::kLoad &&
           x->args[0]->index == operand && x->args[0]->dtype == DType::kU8;
  };
  return Rewrite(e, [&](const Expr& node) -> Expr {
    if (node->kind == ExprKind::kLoad && node->index == operand) {
      return Cast(Load(operand, DType::kU8, node->args), DType::kI8);
    }
    // Whole, it is the same number in any type.
    if (node->kind == ExprKind::kCast && is_read(node->args[0])) {
      return Cast(node->args[0]->args[0], node->dtype);
    }
    return Expr();
  });
}

// What a step stores into its output `output`; empty: not by expressions.
std::vector<Expr*> ValuesOf(Step& step, int output) {
  if (ContractionStep* body = step.contraction()) return {&body->epilogue};
  std::vector<Expr*> values;
  if (Map* map = step.map(); map != nullptr && !step.view) {
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
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const auto buffer = static_cast<int>(b);
      if (!IsUnsigned(buffer)) continue;
      MakeUnsigned(buffer);
      changed = true;
    }
    return changed;
  }

 private:
  bool IsUnsigned(int buffer) const {
    const Buffer& b = program_.buffers[buffer];
    if (b.kind != BufferKind::kInternal || b.type.dtype != DType::kI8) {
      return false;
    }
    if (writers_[buffer].size() != 1) return false;
    const auto values = ValuesOf(*writers_[buffer][0], buffer);
    const auto never_negative = [](const Expr* value) {
      return IsNeverNegative(*value);
    };
    if (values.empty() || !std::ranges::all_of(values, never_negative)) {
      return false;
    }
    bool is_data = false;
    for (const Step* reader : readers_[buffer]) {
      const ContractionStep* body = reader->contraction();
      const bool known =
          body != nullptr || (reader->map() != nullptr && !reader->view);
      if (!known) return false;
      if (body == nullptr) continue;
      if (reader->inputs[1] == buffer) return false;
      if (reader->inputs[0] != buffer) continue;
      if (!IsAsFast(*reader)) return false;
      is_data = true;
    }
    return is_data;
  }

  bool IsAsFast(const Step& reader) const {
    const Contraction& c = reader.contraction()->contraction;
    Contraction other = c;
    other.types.data = DType::kU8;
    const bool constant =
        program_.buffers[reader.inputs[1]].kind == BufferKind::kConstant;
    const auto before = KernelSeconds(catalog_, c, constant);
    const auto after = KernelSeconds(catalog_, other, constant);
    return after && (!before || *after <= *before);
  }

  void MakeUnsigned(int buffer) {
    program_.buffers[buffer].type.dtype = DType::kU8;
    Step& writer = *writers_[buffer][0];
    for (Expr* value : ValuesOf(writer, buffer)) *value = AsUnsigned(*value);
    if (ContractionStep* body = writer.contraction()) {
      body->contraction.types.output = DType::kU8;
    }
    for (Step* reader : readers_[buffer]) Read(*reader, buffer);
  }

  void Read(Step& reader, int buffer) {
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      if (reader.inputs[i] != buffer) continue;
      const auto operand = static_cast<int>(i);
      reader.body.VisitExprs([&](Expr& e) { e = ReadUnsigned(e, operand); });
      if (operand == 0 && reader.contraction() != nullptr) {
        reader.contraction()->contraction.types.data = DType::kU8;
      }
    }
  }

  Program& program_;
  const KernelCatalog& catalog_;
  std::vector<std::vector<Step*>> readers_, writers_;  // by buffer
};

}  // namespace

Result<bool> UnsignedLevels(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  return UnsignedLevelsOf(program, *context.catalog).Run();
}

}  // namespace mxc
