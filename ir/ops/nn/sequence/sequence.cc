// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/sequence/sequence.h"

#include <fmt/format.h>

namespace mxc {

std::optional<std::string> CheckSequenceAxis(int64_t axis) {
  if (axis == 0 || axis == 1) return std::nullopt;
  return fmt::format("C1: axis is {}, expected 0 or 1", axis);
}

std::vector<InputSpec> SequenceInputs(bool use_length) {
  if (!use_length) return {{"data"}};
  return {{"data"}, {"sequence_length"}};
}

bool SequenceLengthTypes(int64_t axis, bool use_length, TypeInference& t) {
  const Shape& data = t.In(0);
  if (use_length && t.InDType(1) == DType::kUnknown) {
    t.SetInDType(1, t.InDType(0));
  }
  if (!data.known_rank()) return false;
  if (!t.Require(data.rank() >= 2, "C2: data has {} axes, expected at least 2",
                 data.rank())) {
    return false;
  }
  if (!use_length) return true;
  const int64_t sequences = data[axis == 0 ? 1 : 0];
  if (t.In(1).known() && sequences != Shape::kUnknownDim) {
    t.Require(t.In(1) == Shape{sequences},
              "C3: sequence_length has shape {}, expected ({},)",
              ToString(t.In(1)), sequences);
  }
  t.SetIn(1, {sequences});
  return !t.error();
}

Expr SequenceLength(const Definition& def, int64_t axis, bool use_length,
                    Expr n) {
  const int64_t steps = def.InShape(0)[static_cast<int>(axis)];
  if (!use_length) return steps;
  return Max(Min(Cast(def.In(1, {n}), DType::kI64), steps), 0);
}

std::vector<Value> InputsWithLengths(const Node& node, int64_t axis,
                                     bool has_lengths, Value count,
                                     GraphBuilder& b) {
  std::vector<Value> inputs = node.inputs;
  if (has_lengths) return inputs;
  const Shape& data = inputs[0].shape();
  inputs.push_back(b.BroadcastTo(count, {data[axis == 0 ? 1 : 0]}));
  return inputs;
}

}  // namespace mxc
