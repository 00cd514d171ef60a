// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/draw_input.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ir/program/steps/map.h"
#include "runtime/train/random.h"

namespace mxc {
namespace {

// Looks for inputs within the indices of other tensors, and beside index
// variables in comparisons.
class PositionFinder {
 public:
  explicit PositionFinder(const Program& program)
      : program_(program), input_(program.buffers.size(), -1) {
    for (const int b : program.BuffersOf(BufferKind::kInput)) input_[b] = b;
  }

  std::map<std::string, int64_t> Run() {
    for (const Step& step : program_.steps) Look(step);
    return std::move(found_);
  }

 private:
  void Look(const Step& step) {
    step_ = &step;
    step.body.VisitExprs([&](const Expr& e) { LookAtIndices(e); });
    if (step.map() == nullptr) return;
    for (const Store& store : step.map()->stores) {
      extents_.clear();
      for (size_t axis = 0; axis < store.extent.size(); ++axis) {
        extents_[static_cast<int>(axis)] =
            store.begin[axis] + store.extent[axis];
      }
      LookAtComparisons(store.value);
    }
    if (step.map()->stores.size() == 1) {
      const int same = InputBehind(step.map()->stores[0].value);
      if (same >= 0) input_[step.outputs[0]] = same;
    }
  }

  void LookAtIndices(const Expr& e) {
    VisitLoads(e, [&](const ExprNode& load) {
      const int buffer = BufferOf(load);
      if (buffer < 0) return;
      const Shape& shape = program_.buffers[buffer].type.shape;
      for (size_t axis = 0; axis < load.args.size(); ++axis) {
        VisitLoads(load.args[axis], [&](const ExprNode& index) {
          const int at = BufferOf(index);
          if (at >= 0) Note(input_[at], shape[static_cast<int>(axis)]);
        });
      }
    });
  }

  void LookAtComparisons(const Expr& e) {
    for (const Range& range : e->ranges) {
      if (range.end->kind == ExprKind::kConst) {
        extents_[range.var] = static_cast<int64_t>(range.end->number);
      }
    }
    if (e->kind == ExprKind::kBinary && IsComparison(e->binary)) {
      for (const int side : {0, 1}) {
        const auto extent = ExtentOf(e->args[1 - side]);
        if (!extent) continue;
        VisitLoads(e->args[side], [&](const ExprNode& load) {
          const int buffer = BufferOf(load);
          if (buffer >= 0) Note(input_[buffer], *extent);
        });
      }
    }
    for (const Expr& arg : e->args) LookAtComparisons(arg);
  }

  static bool IsComparison(BinaryOp op) {
    return op == BinaryOp::kLess || op == BinaryOp::kLessEqual ||
           op == BinaryOp::kEqual || op == BinaryOp::kNotEqual;
  }

  // Of the axis that the expression runs along.
  std::optional<int64_t> ExtentOf(Expr e) const {
    while (e->kind == ExprKind::kCast) e = e->args[0];
    if (e->kind != ExprKind::kVar) return std::nullopt;
    const auto known = extents_.find(e->index);
    if (known == extents_.end()) return std::nullopt;
    return known->second;
  }

  // The input whose values these are, perhaps as another type; -1: of none.
  int InputBehind(Expr e) const {
    while (e->kind == ExprKind::kCast) e = e->args[0];
    if (e->kind != ExprKind::kLoad) return -1;
    const int buffer = BufferOf(*e);
    return buffer < 0 ? -1 : input_[buffer];
  }

  int BufferOf(const ExprNode& load) const {
    const auto operand = static_cast<size_t>(load.index);
    return operand < step_->inputs.size() ? step_->inputs[operand] : -1;
  }

  void Note(int input, int64_t positions) {
    if (input < 0) return;
    const auto [known, added] =
        found_.emplace(program_.buffers[input].name, positions);
    if (!added) known->second = std::min(known->second, positions);
  }

  const Program& program_;
  std::vector<int> input_;  // by buffer: the one whose values it has, or -1
  const Step* step_ = nullptr;
  std::map<int, int64_t> extents_;  // by index variable
  std::map<std::string, int64_t> found_;
};

bool IsSigned(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 ||
         dtype == DType::kI64;
}

}  // namespace

std::map<std::string, int64_t> FindPositionInputs(const Program& plain) {
  return PositionFinder(plain).Run();
}

Tensor DrawInput(const Buffer& input, int64_t positions, uint64_t seed,
                 const InputRange& range) {
  const DType dtype = input.type.dtype;
  double low = range.low, high = range.high;
  if (positions > 0) {
    low = 0, high = static_cast<double>(positions);
  } else if (dtype == DType::kBool) {
    low = 0, high = 2;
  } else if (!IsFloat(dtype)) {
    low = IsSigned(dtype) ? -8 : 0, high = low + 16;
  }
  std::vector<float> drawn(static_cast<size_t>(input.type.shape.elements()));
  train::RandomStream(seed, input.name).FillUniform(0.5, drawn);
  std::byte* bytes = nullptr;
  Tensor value = Tensor::Allocate(input.type, &bytes);
  for (size_t i = 0; i < drawn.size(); ++i) {
    double x = low + (high - low) * (static_cast<double>(drawn[i]) + 0.5);
    if (positions > 0 || !IsFloat(dtype)) x = std::floor(x);
    StoreElement(bytes + static_cast<int64_t>(i) * SizeOf(dtype), dtype, x);
  }
  return value;
}

}  // namespace mxc
