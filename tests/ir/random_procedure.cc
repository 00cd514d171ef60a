// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/random_procedure.h"

#include <array>
#include <random>

#include "ir/program/add_buffer.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

constexpr int64_t kRowWidth =
    7;  // of the last axis of all that is not a scalar
constexpr std::array kTypes = {DType::kF32, DType::kF64, DType::kF16,
                               DType::kI32, DType::kU32, DType::kI64,
                               DType::kU8,  DType::kI16, DType::kBool};

class ProcedureDraw {
 public:
  ProcedureDraw(unsigned seed, ProcedureBuilder& p, int64_t tasks,
                size_t inputs, size_t outputs)
      : random_(seed), p_(p), task_(p.Tasks(tasks)) {
    for (size_t i = 0; i < inputs; ++i) {
      read_.push_back({p.In(static_cast<int>(i)), {task_}});
    }
    for (size_t i = 0; i < outputs; ++i) {
      written_.push_back({p.Out(static_cast<int>(i)), {task_}});
    }
  }

  void Draw() {
    for (const DType dtype : kTypes) {
      if (Pick(2) == 0) scalars_.push_back(p_.Let(Constant(0, dtype)));
      if (Pick(2) == 0) written_.push_back({p_.Array(dtype, {kRowWidth}), {}});
    }
    p_.For(0, kRowWidth, [&](const Expr& i) {
      for (const Rows& rows : written_) {
        p_.Set(rows.At(i), Constant(Pick(5), rows.array.dtype()));
      }
    });
    DrawStatements(0);
  }

 private:
  // Vectors of kRowWidth elements that the task may use.
  struct Rows {
    ProcedureArray array;
    std::vector<Expr> row;
    Expr At(const Expr& i) const {
      std::vector<Expr> index = row;
      index.push_back(i);
      return array.At(index);
    }
  };

  int Pick(int n) { return static_cast<int>(random_() % n); }
  template <class T>
  const T& OneOf(const std::vector<T>& list) {
    return list[static_cast<size_t>(Pick(static_cast<int>(list.size())))];
  }

  void DrawStatements(int nesting) {
    const int count = 1 + Pick(4);
    for (int i = 0; i < count; ++i) DrawStatement(nesting);
  }

  void DrawStatement(int nesting) {
    const int kind = nesting > 3 ? 0 : Pick(5);
    if (kind == 1) {
      DrawLoop(nesting);
    } else if (kind == 2) {
      const bool both = Pick(2) == 0;
      p_.If(
          Value(DType::kBool, 2), [&] { DrawBranch(nesting); },
          [&] {
            if (both) DrawBranch(nesting);
          });
    } else {
      const Expr to = Element();
      p_.Set(to, Value(to->dtype, 3));
    }
  }

  void DrawBranch(int nesting) {
    DrawStatements(nesting + 1);
    if (loops_ > 0 && Pick(3) == 0) p_.Break();
  }

  void DrawLoop(int nesting) {
    const auto body = [&](const Expr& i) {
      vars_.push_back(i);
      ++loops_;
      DrawStatements(nesting + 1);
      --loops_;
      vars_.pop_back();
    };
    if (Pick(2) == 0) return p_.For(Pick(3), 1 + Pick(5), body);
    const Expr begin = Value(DType::kI64, 1);
    p_.For(begin, begin + Index(), 1 + Pick(4), body);
  }

  // 0 … kRowWidth - 1
  Expr Index() {
    const Expr i = vars_.empty() || Pick(2) == 0 ? Value(DType::kI64, 1)
                                                 : OneOf(vars_) + Expr(Pick(9));
    return i % Expr(kRowWidth);
  }

  // Where a task may write.
  Expr Element() {
    if (!scalars_.empty() && Pick(2) == 0) return OneOf(scalars_);
    return OneOf(written_).At(Index());
  }

  Expr Leaf(DType dtype) {
    for (int tries = 0; tries < 3; ++tries) {
      const Expr from = Pick(2) == 0 ? OneOf(read_).At(Bare()) : Bare();
      if (from->dtype == dtype) return from;
      const bool wide = from->dtype == DType::kI64 || dtype == DType::kBool ||
                        from->dtype == DType::kBool;
      if (!wide && IsFloat(from->dtype) == IsFloat(dtype)) {
        return Tamed(Cast(from, dtype));
      }
      if (!scalars_.empty() && OneOf(scalars_)->dtype == dtype) break;
    }
    return Constant(dtype == DType::kBool ? Pick(2) : Pick(20), dtype);
  }

  Expr Bare() {
    if (!vars_.empty() && Pick(2) == 0) return OneOf(vars_) % Expr(kRowWidth);
    return Expr(Pick(static_cast<int>(kRowWidth)));
  }

  // Floats stay exact, and i64 far from its limits.
  Expr Tamed(const Expr& e) {
    if (e->dtype == DType::kI64) return e % Expr(1000);
    if (!IsFloat(e->dtype)) return e;
    return Max(Min(e, Lit(100, e)), Lit(-100, e));
  }

  Expr Value(DType dtype, int depth) {
    if (depth == 0 || Pick(4) == 0) {
      if (dtype != DType::kI64 && Pick(2) == 0) {
        const Expr element = Held(dtype);
        if (element) return element;
      }
      return Leaf(dtype);
    }
    if (dtype == DType::kBool) return Truth(depth);
    const Expr a = Value(dtype, depth - 1), b = Value(dtype, depth - 1);
    if (Pick(4) == 0) return Select(Value(DType::kBool, depth - 1), a, b);
    constexpr std::array kFloatOps = {BinaryOp::kAdd, BinaryOp::kSub,
                                      BinaryOp::kMax, BinaryOp::kMin};
    constexpr std::array kIntegerOps = {
        BinaryOp::kAdd,    BinaryOp::kSub, BinaryOp::kMul,    BinaryOp::kMax,
        BinaryOp::kBitAnd, BinaryOp::kMin, BinaryOp::kBitXor, BinaryOp::kAdd};
    if (IsFloat(dtype)) return Tamed(Binary(kFloatOps[Pick(4)], a, b));
    return Tamed(Binary(kIntegerOps[Pick(8)], a, b));
  }

  // A scalar or an element of that type, empty where none is found.
  Expr Held(DType dtype) {
    for (int tries = 0; tries < 6; ++tries) {
      if (!scalars_.empty() && Pick(2) == 0) {
        if (const Expr e = OneOf(scalars_); e->dtype == dtype) return e;
      }
      const Rows& rows = OneOf(written_);
      if (rows.array.dtype() == dtype) return rows.At(Bare());
    }
    return {};
  }

  Expr Truth(int depth) {
    const DType of = kTypes[static_cast<size_t>(Pick(8))];
    const Expr a = Value(of, depth - 1), b = Value(of, depth - 1);
    constexpr std::array kComparisons = {BinaryOp::kLess, BinaryOp::kLessEqual,
                                         BinaryOp::kEqual, BinaryOp::kNotEqual};
    const Expr truth = Binary(kComparisons[Pick(4)], a, b);
    if (Pick(3) > 0) return truth;
    return Binary(Pick(2) == 0 ? BinaryOp::kAnd : BinaryOp::kOr, truth,
                  Value(DType::kBool, depth - 1));
  }

  std::mt19937 random_;
  ProcedureBuilder& p_;
  Expr task_;
  std::vector<Rows> read_, written_;
  std::vector<Expr> scalars_, vars_;
  int loops_ = 0;
};

}  // namespace

Program RandomProcedure(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % n); };
  const int64_t tasks = 1 + pick(6);
  Program program;
  program.name = "random";
  program.entry.purpose = Purpose::kInfer;
  Step step;
  step.name = "procedure";
  std::vector<TensorType> inputs, outputs;
  const auto draw = [&](BufferKind kind, const char* name,
                        std::vector<TensorType>& types,
                        std::vector<int>& list) {
    const int count = 1 + pick(3);
    for (int i = 0; i < count; ++i) {
      const DType dtype = kTypes[static_cast<size_t>(pick(9))];
      types.push_back({dtype, Shape{tasks, kRowWidth}});
      list.push_back(
          AddBuffer(program, name + std::to_string(i), types.back(), kind));
    }
  };
  draw(BufferKind::kInput, "in", inputs, step.inputs);
  draw(BufferKind::kOutput, "out", outputs, step.outputs);
  ProcedureBuilder p(inputs, outputs);
  ProcedureDraw(seed, p, tasks, inputs.size(), outputs.size()).Draw();
  step.body = p.Finish();
  program.steps.push_back(std::move(step));
  return program;
}

std::vector<Tensor> ProcedureInputs(const Program& program, unsigned seed) {
  std::mt19937 random(seed + 1);
  std::vector<Tensor> inputs;
  for (const int b : program.steps[0].inputs) {
    const TensorType& type = program.buffers[b].type;
    std::byte* bytes = nullptr;
    inputs.push_back(Tensor::Allocate(type, &bytes));
    for (int64_t i = 0; i < type.shape.elements(); ++i) {
      StoreElement(bytes + i * SizeOf(type.dtype), type.dtype,
                   type.dtype == DType::kBool ? random() % 2 : random() % 50);
    }
  }
  return inputs;
}

}  // namespace mxc
