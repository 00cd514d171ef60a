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
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/threads.h"
#include "ir/support/wildcard.h"
#include "passes/passes.h"

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
      // What is not a number becomes the greatest.
      const float level =
          std::max(-kLargestLevel,
                   std::min(kLargestLevel, std::nearbyint(row[k] / scale)));
      to[rows.IndexOf(output, static_cast<int64_t>(k))] =
          static_cast<std::byte>(static_cast<int8_t>(level));
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

Tensor InBF16(const Tensor& wide) {
  const TensorType type = {DType::kBF16, wide.shape()};
  std::byte* to = nullptr;
  Tensor narrow = Tensor::Allocate(type, &to);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(to + i * SizeOf(type.dtype), type.dtype, wide.At(i));
  }
  return narrow;
}

class NarrowedWeights {
 public:
  NarrowedWeights(Program& program, const WeightStorage& storage)
      : program_(program), storage_(storage) {}

  bool Run() {
    bool changed = false;
    for (Step& step : program_.steps) {
      if (!IsWanted(step)) continue;
      changed = true;
      if (storage_.kind == WeightKind::kBF16) {
        ReadBF16(step);
      } else if (storage_.kind == WeightKind::kInt4 && HasGroups(step)) {
        ReadInt4(step);
      } else {
        ReadInt8(step);
      }
    }
    return changed;
  }

 private:
  // Products of f32 with a constant matrix that is not to be kept.
  bool IsWanted(const Step& step) const {
    const ContractionStep* body = step.contraction();
    if (body == nullptr) return false;
    const Contraction& c = body->contraction;
    const Buffer& weight = program_.buffers[step.inputs[1]];
    const bool keeps =
        std::ranges::any_of(storage_.kept, [&](const std::string& pattern) {
          return MatchesWildcard(pattern, weight.name);
        });
    return weight.kind == BufferKind::kConstant && !keeps && c.groups == 1 &&
           c.kernel.empty() && c.weight_axes.size() == 2 &&
           c.types.data == DType::kF32 && c.types.weight == DType::kF32 &&
           c.types.sum == DType::kF32;
  }

  bool HasGroups(const Step& step) const {
    return step.contraction()->contraction.in % storage_.group == 0;
  }

  static bool ByRows(const Step& step) {
    return step.contraction()->contraction.weight_axes[0] == Role::kOut;
  }

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
    step.inputs[1] = Made(step, "/bf16", {DType::kBF16, shape}, InBF16);
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

Result<bool> NarrowWeights(Program& program, PassContext& context) {
  if (context.weights.kind == WeightKind::kF32) return false;
  return NarrowedWeights(program, context.weights).Run();
}

}  // namespace mxc
