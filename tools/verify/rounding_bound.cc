// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/rounding_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/in_place.h"
#include "ir/program/interpreter.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"
#include "ir/program/window_maxima.h"
#include "tools/verify/difference.h"
#include "tools/verify/transform_rounding.h"

namespace mxc {
namespace {

// The step's output where the contraction's sums are those.
Tensor Finish(const Program& program, const Step& step,
              std::span<const Tensor> operands, const Tensor& sums) {
  Program with = program;
  Step finish = step;
  const int operand = static_cast<int>(step.inputs.size());
  finish.inputs.push_back(AddBuffer(with, "sums", sums.type()));
  std::vector<Expr> index;
  for (int axis = 0; axis < sums.shape().rank(); ++axis) {
    index.push_back(Var(axis));
  }
  const Expr value =
      Rewrite(step.contraction()->epilogue, [&](const Expr& e) -> Expr {
        return e->kind == ExprKind::kAcc ? Load(operand, DType::kF32, index)
                                         : Expr();
      });
  const Extents& dims = sums.shape().dims();
  finish.body = Map{{{0, Extents(dims.size(), 0), dims, value}}};
  std::vector<Tensor> all(operands.begin(), operands.end());
  all.push_back(sums);
  return InterpretStep(with, finish, all)[0];
}

bool AnyBounds(std::span<const Tensor> bounds) {
  return std::ranges::any_of(bounds,
                             [](const Tensor& t) { return !t.empty(); });
}

// Returns whether bounds of such elements are looked for: what is rounded to
// f64 is below any tolerance.
bool IsBounded(DType dtype) { return AccumulateType(dtype) == DType::kF32; }

// The values, of any type, as f32.
Tensor Widened(const Tensor& values) {
  std::vector<float> wide(static_cast<size_t>(values.shape().elements()));
  for (size_t i = 0; i < wide.size(); ++i) {
    wide[i] = static_cast<float>(values.At(static_cast<int64_t>(i)));
  }
  return Tensor::FromFloats(values.shape(), wide);
}

// The operands, as f32, moved by so many of their bounds.
std::vector<Tensor> Moved(std::span<const Tensor> operands,
                          std::span<const Tensor> bounds, double by) {
  std::vector<Tensor> moved(operands.begin(), operands.end());
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].empty()) continue;
    const Tensor wide = Widened(operands[i]);
    std::vector<float> values(wide.floats().begin(), wide.floats().end());
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] += static_cast<float>(by) * bounds[i].floats()[k];
    }
    moved[i] = Tensor::FromFloats(operands[i].shape(), values);
  }
  return moved;
}

constexpr double kEpilogueRoundings = 4;

// What `compute` makes of all that it is given, moved to both ends of its
// bounds (-1, 1), and a few roundings of its own of values of such magnitudes:
// where they lie between two results of a narrow type, by as much as these.
Tensor AtBothEnds(const std::function<Tensor(double by)>& compute,
                  const std::function<double(size_t)>& magnitude) {
  const Tensor exact = compute(0), above = compute(1), below = compute(-1);
  const double last_bit = LastBit(exact.type().dtype);
  std::vector<float> bounds(static_cast<size_t>(exact.shape().elements()));
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    const double change = std::max(std::abs(above.At(k) - exact.At(k)),
                                   std::abs(below.At(k) - exact.At(k)));
    bounds[i] = static_cast<float>(change + last_bit * std::abs(exact.At(k)) +
                                   kEpilogueRoundings * kRoundoff *
                                       (std::abs(exact.At(k)) + magnitude(i)));
  }
  return Tensor::FromFloats(exact.shape(), bounds);
}

Tensor ThroughEpilogue(const Program& program, const Step& step,
                       std::span<const Tensor> operands,
                       std::span<const Tensor> operand_bounds,
                       const Bounded& bounded) {
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  const auto compute = [&](double by) {
    std::vector<float> sums(bounded.sum.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = static_cast<float>(bounded.sum[i] + by * bounded.bound[i]);
    }
    return Finish(program, step, Moved(operands, operand_bounds, by),
                  Tensor::FromFloats(shape, sums));
  };
  return AtBothEnds(compute,
                    [&](size_t i) { return std::abs(bounded.sum[i]); });
}

// The contraction alone, on other operands than the step's, of any float type.
Tensor SumsOf(const Program& program, const Step& step,
              std::span<const Tensor> operands) {
  Program with = program;
  Step sums = step;
  sums.contraction()->contraction.types = {};
  sums.contraction()->epilogue = Acc();
  for (const int b : sums.operands()) with.buffers[b].type.dtype = DType::kF32;
  std::vector<Tensor> wide;
  for (const Tensor& operand : operands) wide.push_back(Widened(operand));
  return InterpretStep(with, sums, wide)[0];
}

Tensor Squares(const Tensor& values) {
  const Tensor wide = Widened(values);
  std::vector<float> squares(wide.floats().begin(), wide.floats().end());
  for (float& value : squares) value *= value;
  return Tensor::FromFloats(values.shape(), squares);
}

// Errors of data and weight, independent of each other.
void AddOperandErrors(const Program& program, const Step& step,
                      std::span<const Tensor> operands,
                      std::span<const Tensor> operand_bounds,
                      Bounded& bounded) {
  for (size_t i = 0; i < std::min<size_t>(2, operand_bounds.size()); ++i) {
    if (operand_bounds[i].empty()) continue;
    std::vector<Tensor> squares(operands.begin(), operands.end());
    squares[i] = Squares(operand_bounds[i]);
    squares[1 - i] = Squares(operands[1 - i]);
    const Tensor sums = SumsOf(program, step, squares);
    for (size_t k = 0; k < bounded.bound.size(); ++k) {
      const double before = bounded.bound[k];
      bounded.bound[k] =
          std::sqrt(before * before + sums.At(static_cast<int64_t>(k)));
    }
  }
}

// The sums, and what the algorithm's roundings may do to them.
Bounded SumsOfAlgorithm(const Program& program, const Step& step,
                        std::span<const Tensor> operands) {
  const ContractionStep& body = *step.contraction();
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  if (HasTransforms(body)) {
    return SumsOfTransforms(body, shape, Widened(operands[0]),
                            Widened(operands[1]));
  }
  Bounded bounded(shape);
  const Tensor sums = SumsOf(program, step, operands);
  for (size_t i = 0; i < bounded.sum.size(); ++i) {
    bounded.sum[i] = sums.At(static_cast<int64_t>(i));
  }
  return bounded;
}

std::vector<Tensor> BoundsOfMap(const Program& program, const Step& step,
                                std::span<const Tensor> operands,
                                std::span<const Tensor> operand_bounds) {
  std::vector<Tensor> bounds(step.outputs.size());
  for (size_t o = 0; o < bounds.size(); ++o) {
    if (!IsBounded(program.buffers[step.outputs[o]].type.dtype)) continue;
    bounds[o] = AtBothEnds(
        [&](double by) {
          return InterpretStep(program, step,
                               Moved(operands, operand_bounds, by))[o];
        },
        [](size_t) { return 0; });
  }
  return bounds;
}

bool UsesTransforms(const Step& step) {
  if (const TileLoop* loop = step.loop()) {
    return std::ranges::any_of(loop->tile->steps, UsesTransforms);
  }
  const ContractionStep* body = step.contraction();
  return body != nullptr && IsBounded(body->contraction.types.sum) &&
         HasTransforms(*body);
}

// By the steps of each tile.
std::vector<Tensor> BoundsOfLoop(const Program& program, const Step& step,
                                 std::span<const Tensor> operands,
                                 std::span<const Tensor> operand_bounds) {
  const TileLoop& loop = *step.loop();
  const Program& tile = *loop.tile;
  std::vector<std::vector<float>> found(step.outputs.size());
  for (int64_t t = 0; t < loop.tiles; ++t) {
    std::vector<Tensor> values(tile.buffers.size()), bounds = values;
    for (size_t i = 0; i < operands.size(); ++i) {
      values[i] = CutWindow(loop, i, t, operands[i]);
      if (i < operand_bounds.size() && !operand_bounds[i].empty()) {
        bounds[i] = CutWindow(loop, i, t, operand_bounds[i]);
      }
    }
    for (const Step& inner : tile.steps) {
      std::vector<Tensor> on, off;
      for (const int b : inner.inputs) {
        on.push_back(values[b]);
        off.push_back(bounds[b]);
      }
      const auto results = InterpretStep(tile, inner, on);
      const auto errors = RoundingBounds(tile, inner, on, off);
      for (size_t o = 0; o < results.size(); ++o) {
        values[inner.outputs[o]] = results[o];
        if (!errors.empty()) bounds[inner.outputs[o]] = errors[o];
      }
    }
    for (size_t o = 0; o < found.size(); ++o) {
      const size_t w = operands.size() + o;
      if (bounds[w].empty()) continue;
      const Shape& whole = program.buffers[step.outputs[o]].type.shape;
      found[o].resize(static_cast<size_t>(whole.elements()));
      for (const WindowRun& run :
           RunsOf(loop.windows[w], t, whole, bounds[w].shape())) {
        std::copy_n(bounds[w].floats().begin() + run.part, run.count,
                    found[o].begin() + run.operand);
      }
    }
  }
  std::vector<Tensor> bounds(found.size());
  for (size_t o = 0; o < found.size(); ++o) {
    if (found[o].empty()) continue;
    bounds[o] = Tensor::FromFloats(program.buffers[step.outputs[o]].type.shape,
                                   found[o]);
  }
  return AnyBounds(bounds) ? bounds : std::vector<Tensor>();
}

// The largest of each window that the step takes the maximum of: by no more can
// that be off.
Tensor LargestOfWindows(const ContractionStep& body, const Tensor& bounds,
                        const Shape& out) {
  const std::vector<Element> largest =
      WindowMaxima(body, ToElements(bounds), out);
  return Tensor::FromFloats(out,
                            std::vector<float>(largest.begin(), largest.end()));
}

// By the bounds of all that the windows hold.
std::vector<Tensor> BoundsOfMaxima(const Program& program, const Step& step,
                                   std::span<const Tensor> operands,
                                   std::span<const Tensor> operand_bounds) {
  Program with = program;
  Step whole = step;
  const Buffer& out = program.buffers[step.outputs[0]];
  Buffer buffer;
  buffer.name = out.name + "/whole";
  buffer.type = {out.type.dtype,
                 Shape(OutputDims(step.contraction()->contraction))};
  buffer.layout = Layout::RowMajor(buffer.type.shape);
  whole.outputs = {static_cast<int>(with.buffers.size())};
  whole.contraction()->maxima.clear();
  with.buffers.push_back(std::move(buffer));
  const auto bounds = RoundingBounds(with, whole, operands, operand_bounds);
  if (bounds.empty()) return {};
  return {LargestOfWindows(*step.contraction(), bounds[0], out.type.shape)};
}

}  // namespace

std::vector<Tensor> RoundingBounds(const Program& program, const Step& step,
                                   std::span<const Tensor> operands,
                                   std::span<const Tensor> operand_bounds) {
  if (!AnyBounds(operand_bounds) && !UsesTransforms(step)) return {};
  if (step.loop() != nullptr) {
    return BoundsOfLoop(program, step, operands, operand_bounds);
  }
  if (step.contraction() == nullptr) {
    return BoundsOfMap(program, step, operands, operand_bounds);
  }
  if (!step.contraction()->maxima.empty()) {
    return BoundsOfMaxima(program, step, operands, operand_bounds);
  }
  Bounded bounded = SumsOfAlgorithm(program, step, operands);
  AddOperandErrors(program, step, operands, operand_bounds, bounded);
  return {ThroughEpilogue(program, step, operands, operand_bounds, bounded)};
}

}  // namespace mxc
