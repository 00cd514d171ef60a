// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_concat: 8-bit numbers joined along an axis, as levels of the
// widest range of all of them.
//   data q[…] …, then min and max, f32[1], of each of them
//   outputs  q[…], min f32[1], max f32[1]: i8 if any of data is
// C1  data are i8 or u8
// Source: MXNet 1.9.1 operator/quantization/quantized_concat.cc,
// mkldnn/mkldnn_quantized_concat.cc.
#include "ir/ops/quantized/quantization.h"
#include "ir/ops/quantized/round_to_levels.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/concat.h"

namespace mxc {
namespace {

struct QuantizedConcatAttrs {
  int64_t num_args = 1;
  int64_t dim = 1;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands / 3).Doc("data");
    f("dim", dim).Doc("the axis along which they are joined");
  }
  int parts() const { return static_cast<int>(num_args); }
};

std::vector<InputSpec> QuantizedConcatInputs(const QuantizedConcatAttrs& a) {
  std::vector<InputSpec> inputs = NumberedInputs("arg", a.num_args);
  for (int i = 0; i < a.parts(); ++i) {
    inputs.push_back({fmt::format("arg{}_min", i), InputKind::kData});
    inputs.push_back({fmt::format("arg{}_max", i), InputKind::kData});
  }
  return inputs;
}

AttrsPtr ConcatAttrsOf(const QuantizedConcatAttrs& a) {
  std::vector<AttrError> errors;
  const std::vector<AttrText> texts = {{"num_args", std::to_string(a.num_args)},
                                       {"dim", std::to_string(a.dim)}};
  return FindOperator("Concat")->parse(texts, errors);
}

void QuantizedConcatTypes(const QuantizedConcatAttrs& a, TypeInference& t) {
  SetRangeTypes(t, a.parts(), 1);
  ShapesOf("Concat", ConcatAttrsOf(a).get(), a.parts(), t);
  DType joined = DType::kU8;
  for (int i = 0; i < a.parts(); ++i) {
    if (!RequireQuantized(t, i)) return;
    if (t.InDType(i) == DType::kI8) joined = DType::kI8;
  }
  t.SetOutDType(0, joined);
}

std::vector<Value> QuantizedConcatParts(const QuantizedConcatAttrs& a,
                                        const Node& node, GraphBuilder& b) {
  const DType dtype = node.types[0].dtype;
  const auto range_end = [&](int i, int end) {
    return node.inputs[a.parts() + 2 * i + end];
  };
  Value low = range_end(0, 0), high = range_end(0, 1);
  for (int i = 1; i < a.parts(); ++i) {
    low = b.Op<op::BroadcastMinimum>({low, range_end(i, 0)});
    high = b.Maximum(high, range_end(i, 1));
  }
  const Value scale =
      b.Div(LevelsOf(dtype, kWideLevels), b.Maximum(b.Abs(low), b.Abs(high)));
  std::vector<Value> levels;
  for (int i = 0; i < a.parts(); ++i) {
    const Value data = node.inputs[i];
    const Value magnitude =
        b.Maximum(b.Abs(range_end(i, 0)), b.Abs(range_end(i, 1)));
    const Value level =
        b.Div(magnitude, LevelsOf(data.type().dtype, kWideLevels));
    levels.push_back(b.Reshape(
        b.Mul(b.Cast(data, DType::kF32), b.Mul(level, scale)), data.shape()));
  }
  const Value joined =
      b.Op<op::Concat>(levels, {.num_args = a.num_args, .dim = a.dim});
  const Value rounded =
      b.Op<op::RoundToLevels>({joined}, {.levels = dtype}, "rounded");
  return {b.Cast(rounded, dtype), low, high};
}

}  // namespace

MXC_OP(QuantizedConcat) {
  return Op<QuantizedConcatAttrs>("_contrib_quantized_concat")
      .Doc("8-bit numbers joined along an axis")
      .InputsOf(QuantizedConcatInputs)
      .Outputs(kRangedOutputs)
      .Types(QuantizedConcatTypes)
      .Decompose(QuantizedConcatParts)
      .ZeroGradient();
}

}  // namespace mxc
