// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/quantized/quantization.h"

namespace mxc {

namespace {

// Of x and `limit`, which NaN becomes: two of processors' instructions that
// do not ask for NaN.
Expr Below(const Expr& x, double limit) {
  return Select(x < Lit(limit, x), x, Lit(limit, x));
}

Expr Above(const Expr& x, double limit) {
  return Select(x > Lit(limit, x), x, Lit(limit, x));
}

Expr Limited(const Expr& x, double low, double high) {
  return Max(Below(x, high), Lit(low, x));
}

}  // namespace

double LevelsOf(DType dtype, const Levels& levels) {
  if (dtype == DType::kI8) return levels.int8;
  return dtype == DType::kU8 ? levels.uint8 : 2147483647;
}

Expr GreaterMagnitude(const Expr& low, const Expr& high) {
  return Max(Abs(low), Abs(high));
}

Expr RoundToLevels(const Expr& x, DType dtype) {
  if (dtype == DType::kI8)
    return Unary(UnaryOp::kRoundEven, Limited(x, -128, 127));
  if (dtype == DType::kI32) {
    constexpr double kGreatest = 2147483520;  // below 2^31, in f32
    return Unary(UnaryOp::kRoundEven, Limited(x, -2147483648.0, kGreatest));
  }
  return Unary(UnaryOp::kRoundEven, Min(Above(x, 0), Lit(255, x)));
}

Expr QuantizeInt8(const Expr& x, const Expr& low, const Expr& high,
                  const Levels& levels) {
  const Expr scale = Lit(levels.int8, x) / GreaterMagnitude(low, high);
  return RoundToLevels(x * scale, DType::kI8);
}

Expr QuantizeUint8(const Expr& x, const Expr& low, const Expr& high,
                   const Levels& levels) {
  const Expr scale = Lit(levels.uint8, x) / (high - low);
  return RoundToLevels((x - low) * scale, DType::kU8);
}

Expr LevelOf(const Definition& def, int input, int low, const Levels& levels) {
  const Expr magnitude =
      GreaterMagnitude(def.In(low, {0}), def.In(low + 1, {0}));
  return magnitude / Lit(LevelsOf(def.InDType(input), levels), magnitude);
}

bool RequireQuantized(TypeInference& t, int input) {
  const DType given = t.InDType(input);
  return t.Require(given == DType::kUnknown || given == DType::kI8 ||
                       given == DType::kU8,
                   "C1: input {} has type {}, expected i8 or u8", input,
                   ShortName(given)) &&
         given != DType::kUnknown;
}

void SetIntegerTypes(TypeInference& t) {
  RequireQuantized(t, 0);
  t.SetInDType(1, DType::kI8);
  if (t.inputs() > 2) t.SetInDType(2, DType::kI32);
  t.SetOutDType(0, DType::kI32);
}

void ShapesOf(std::string_view op, const void* attrs, int inputs,
              TypeInference& t) {
  std::vector<TensorType> in, out = {{DType::kF32, t.Out(0)}};
  for (int i = 0; i < inputs; ++i) in.push_back({DType::kF32, t.In(i)});
  const Operator* layer = FindOperator(op);
  out.resize(layer->outputs(attrs).size(), {DType::kF32, {}});
  TypeInference inference(in, out, t.training());
  layer->types(attrs, inference);
  if (inference.error()) return t.Fail("{}", *inference.error());
  for (int i = 0; i < inputs; ++i) t.SetIn(i, in[i].shape);
  t.SetOut(0, out[0].shape);
}

void SetRangeTypes(TypeInference& t, int input, int output) {
  for (int i = input; i < t.inputs(); ++i) {
    t.SetIn(i, Shape{1});
    t.SetInDType(i, DType::kF32);
  }
  for (int i = output; i < t.outputs(); ++i) {
    t.SetOut(i, Shape{1});
    t.SetOutDType(i, DType::kF32);
  }
}

std::vector<InputSpec> RangedInputs() {
  return {{"data", InputKind::kData},
          {"min_data", InputKind::kData},
          {"max_data", InputKind::kData}};
}

std::vector<Value> WithRangeOf(const Node& node, Value output) {
  return {output, node.inputs[1], node.inputs[2]};
}

}  // namespace mxc
