// SPDX-License-Identifier: Apache-2.0
// narrow-weights: if asked for, products read constant weights of fewer bits.
//
//   y[n, m] = Σ x[n, k] · w[m, k]
//     bf16 ⇒  y[n, m] = Σ x[n, k] · bf16(w)[m, k]
//     int8 ⇒  y[n, m] = s[m] · Σ x[n, k] · q[m, k]      s[m] = max |w[m, …]| / 127
//     int4 ⇒  the same, with levels in blocks (int4_blocks.h); where the group
//             does not divide the inputs, int8
//
// A product of few rows takes as long as its weights take to come from memory.
// Data, sums and what the epilogue does stay in f32. Steps other than products
// go on to read the constant as it is: a table of embeddings, say, that a last
// layer shares.
//
// Runs when fusion is done, since what folds constants wants all their digits.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/threads.h"
#include "ir/support/wildcard.h"
#include "passes/narrowed_weights.h"
#include "passes/passes.h"
#include "passes/tensor_in_type.h"

namespace mxc {
namespace {

constexpr float kLargestLevel = 127;

// The elements of a matrix, by outputs.
class Rows {
 public:
  // `by_rows`: each output has a row, else a column.
  Rows(const Tensor& values, bool by_rows)
      : values_(values.floats()),
        outputs_(values.shape()[by_rows ? 0 : 1]),
        inputs_(values.shape()[by_rows ? 1 : 0]),
        by_rows_(by_rows) {}

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  size_t IndexOf(int64_t output, int64_t input) const {
    return static_cast<size_t>(by_rows_ ? output * inputs_ + input
                                        : input * outputs_ + output);
  }
  std::vector<float> Of(int64_t output) const {
    std::vector<float> row;
    for (int64_t input = 0; input < inputs_; ++input) {
      row.push_back(values_[IndexOf(output, input)]);
    }
    return row;
  }
  // Calls f(output, row) for all, by several threads.
  template <class F>
  void ForEach(F f) const {
    ForParts(outputs_, static_cast<double>(inputs_),
             [&](int64_t begin, int64_t end) {
               for (int64_t output = begin; output < end; ++output) {
                 f(output, Of(output));
               }
             });
  }

 private:
  const std::span<const float> values_;
  const int64_t outputs_, inputs_;
  const bool by_rows_;
};

// What one level of an output's weights stands for.
using ScaleOf = float (*)(std::span<const float>);

float Int8Scale(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  return largest > 0 ? largest / kLargestLevel : 1;
}

float Int8Level(float value, float scale) {
  // What is not a number becomes the greatest.
  return std::max(-kLargestLevel,
                  std::min(kLargestLevel, std::nearbyint(value / scale)));
}

Tensor Scales(const Rows& rows, ScaleOf scale_of) {
  std::vector<float> scales(static_cast<size_t>(rows.outputs()));
  rows.ForEach([&](int64_t output, const std::vector<float>& row) {
    scales[static_cast<size_t>(output)] = scale_of(row);
  });
  return Tensor::FromFloats({rows.outputs()}, scales);
}

Tensor Int8Levels(const Rows& rows, const TensorType& type) {
  std::byte* to = nullptr;
  Tensor levels = Tensor::Allocate(type, &to);
  rows.ForEach([&](int64_t output, const std::vector<float>& row) {
    const float scale = Int8Scale(row);
    for (size_t k = 0; k < row.size(); ++k) {
      to[rows.IndexOf(output, static_cast<int64_t>(k))] =
          static_cast<std::byte>(static_cast<int8_t>(Int8Level(row[k], scale)));
    }
  });
  return levels;
}

Tensor Int4Rows(const Rows& rows, int64_t group, const TensorType& type) {
  std::byte* to = nullptr;
  Tensor blocks = Tensor::Allocate(type, &to);
  rows.ForEach([&](int64_t output, const std::vector<float>& row) {
    PackInt4(row, group, Int4Scale(row), to + output * type.shape[1]);
  });
  return blocks;
}

// What products multiply with, in place of an output's weights.
using RoundedRow = std::vector<float> (*)(std::span<const float> row,
                                          int64_t group);

std::vector<float> BF16Row(std::span<const float> row, int64_t) {
  std::vector<float> rounded;
  for (const float value : row) {
    std::byte bytes[sizeof(uint16_t)];
    StoreElement(bytes, DType::kBF16, value);
    rounded.push_back(static_cast<float>(LoadElement(bytes, DType::kBF16)));
  }
  return rounded;
}

std::vector<float> Int8Row(std::span<const float> row, int64_t) {
  const float scale = Int8Scale(row);
  std::vector<float> rounded;
  for (const float value : row) {
    rounded.push_back(scale * Int8Level(value, scale));
  }
  return rounded;
}

std::vector<float> Int4Row(std::span<const float> row, int64_t group) {
  const float scale = Int4Scale(row);
  const auto inputs = static_cast<int64_t>(row.size());
  std::vector<std::byte> bytes(
      static_cast<size_t>(Int4RowBytes(inputs, group)));
  PackInt4(row, group, scale, bytes.data());
  std::vector<Element> blocks;
  for (const std::byte byte : bytes) blocks.push_back(static_cast<int>(byte));
  Contraction one;
  one.out = 1;
  one.in = inputs;
  one.int4_group = group;
  std::vector<float> rounded;
  for (const Element level : Int4Levels(one, blocks)) {
    rounded.push_back(scale * static_cast<float>(level));
  }
  return rounded;
}

double RelativeError(const Rows& rows, RoundedRow rounded, int64_t group) {
  std::vector<double> errors(static_cast<size_t>(rows.outputs()));
  std::vector<double> squares(errors.size());
  rows.ForEach([&](int64_t output, const std::vector<float>& row) {
    const std::vector<float> narrow = rounded(row, group);
    for (size_t k = 0; k < row.size(); ++k) {
      const double wide = row[k], off = narrow[k] - wide;
      errors[static_cast<size_t>(output)] += off * off;
      squares[static_cast<size_t>(output)] += wide * wide;
    }
  });
  const double whole = std::reduce(squares.begin(), squares.end());
  const double off = std::reduce(errors.begin(), errors.end());
  return whole > 0 ? std::sqrt(off / whole) : 0;
}

// Products of f32 with a constant matrix that is not to be kept.
bool IsWanted(const Program& program, const Step& step,
              const WeightStorage& storage) {
  const ContractionStep* body = step.contraction();
  if (body == nullptr) return false;
  const Contraction& c = body->contraction;
  const Buffer& weight = program.buffers[step.inputs[1]];
  const bool keeps = MatchesAny(storage.kept, weight.name);
  return weight.kind == BufferKind::kConstant && !keeps && c.groups == 1 &&
         c.kernel.empty() && c.weight_axes.size() == 2 &&
         c.types.data == DType::kF32 && c.types.weight == DType::kF32 &&
         c.types.sum == DType::kF32;
}

// What becomes of the weight of a step that is wanted.
WeightKind KindFor(const Step& step, const WeightStorage& storage) {
  const bool has_groups =
      step.contraction()->contraction.in % storage.group == 0;
  return storage.kind == WeightKind::kInt4 && !has_groups ? WeightKind::kInt8
                                                          : storage.kind;
}

bool ByRows(const Step& step) {
  return step.contraction()->contraction.weight_axes[0] == Role::kOut;
}

RoundedRow RoundedBy(WeightKind kind) {
  return kind == WeightKind::kBF16   ? BF16Row
         : kind == WeightKind::kInt4 ? Int4Row
                                     : Int8Row;
}

class NarrowedWeights {
 public:
  NarrowedWeights(Program& program, const WeightStorage& storage)
      : program_(program), storage_(storage) {}

  bool Run() {
    bool changed = false;
    for (Step& step : program_.steps) {
      if (!IsWanted(program_, step, storage_)) continue;
      changed = true;
      switch (KindFor(step, storage_)) {
        case WeightKind::kBF16:
          ReadBF16(step);
          break;
        case WeightKind::kInt4:
          ReadInt4(step);
          break;
        default:
          ReadInt8(step);
      }
    }
    return changed;
  }

 private:
  // The constant that `make` makes of the step's weight, once for all steps
  // that want the same.
  template <class Make>
  int Made(const Step& step, const std::string& suffix, const TensorType& type,
           Make make) {
    const Buffer from = program_.buffers[step.inputs[1]];
    const auto [found, is_new] =
        made_.try_emplace({step.inputs[1], ByRows(step), suffix}, -1);
    if (!is_new) return found->second;
    found->second =
        AddBuffer(program_, from.name + suffix, type, BufferKind::kConstant);
    program_.buffers[found->second].constant = Tensor::Deferred(
        type, [wide = from.constant, make] { return make(wide); });
    return found->second;
  }

  void ReadBF16(Step& step) {
    const Shape shape = program_.buffers[step.inputs[1]].type.shape;
    step.inputs[1] =
        Made(step, "/bf16", {DType::kBF16, shape},
             [](const Tensor& wide) { return InType(wide, DType::kBF16); });
    step.contraction()->contraction.types.weight = DType::kBF16;
  }

  void ReadInt8(Step& step) {
    const bool by_rows = ByRows(step);
    const TensorType type = {DType::kI8,
                             program_.buffers[step.inputs[1]].type.shape};
    const int levels =
        Made(step, "/int8", type, [by_rows, type](const Tensor& wide) {
          return Int8Levels(Rows(wide, by_rows), type);
        });
    Scale(step, "/int8_scale", Int8Scale);
    step.inputs[1] = levels;
    step.contraction()->contraction.types.weight = type.dtype;
  }

  void ReadInt4(Step& step) {
    const bool by_rows = ByRows(step);
    Contraction& c = step.contraction()->contraction;
    const int64_t group = storage_.group;
    const TensorType type = {DType::kU8,
                             Shape({c.out, Int4RowBytes(c.in, group)})};
    const int blocks =
        Made(step, "/int4", type, [by_rows, group, type](const Tensor& wide) {
          return Int4Rows(Rows(wide, by_rows), group, type);
        });
    Scale(step, "/int4_scale", Int4Scale);
    step.inputs[1] = blocks;
    c.types.weight = type.dtype;
    c.int4_group = group;
    c.weight_axes = {Role::kOut, Role::kIn};
  }

  // Multiplies the step's sums with the scales of its weight's outputs.
  void Scale(Step& step, const std::string& suffix, ScaleOf scale_of) {
    const bool by_rows = ByRows(step);
    ContractionStep& body = *step.contraction();
    const TensorType type = {DType::kF32, Shape({body.contraction.out})};
    step.inputs.push_back(
        Made(step, suffix, type, [by_rows, scale_of](const Tensor& wide) {
          return Scales(Rows(wide, by_rows), scale_of);
        }));
    const std::vector<Role>& axes = body.contraction.output_axes;
    const auto channel = std::ranges::find(axes, Role::kOut) - axes.begin();
    const Expr scale = Load(static_cast<int>(step.inputs.size()) - 1,
                            DType::kF32, {Var(static_cast<int>(channel))});
    body.epilogue = Rewrite(body.epilogue, [&](const Expr& e) -> Expr {
      return e->kind == ExprKind::kAcc ? e * scale : Expr();
    });
  }

  Program& program_;
  const WeightStorage& storage_;
  // By weight, whether outputs are its rows, and what was made.
  std::map<std::tuple<int, bool, std::string>, int> made_;
};

}  // namespace

std::vector<NarrowedWeight> WeightsToNarrow(const Program& program,
                                            const WeightStorage& storage) {
  std::vector<NarrowedWeight> weights;
  const auto add = [&](NarrowedWeight weight) {
    const auto known =
        std::ranges::find(weights, weight.name, &NarrowedWeight::name);
    if (known == weights.end()) weights.push_back(std::move(weight));
  };
  for (const Step& step : program.steps) {
    StepBody body = step.body;
    body.VisitPrograms([&](std::shared_ptr<const Program>& inner) {
      for (NarrowedWeight& weight : WeightsToNarrow(*inner, storage)) {
        add(std::move(weight));
      }
    });
    if (!IsWanted(program, step, storage)) continue;
    const Buffer& weight = program.buffers[step.inputs[1]];
    add({weight.name,
         [wide = weight.constant, by_rows = ByRows(step),
          rounded = RoundedBy(KindFor(step, storage)), group = storage.group] {
           return RelativeError(Rows(wide, by_rows), rounded, group);
         }});
  }
  return weights;
}

Result<bool> NarrowWeights(Program& program, PassContext& context) {
  if (context.weights.kind == WeightKind::kF32) return false;
  return NarrowedWeights(program, context.weights).Run();
}

}  // namespace mxc
