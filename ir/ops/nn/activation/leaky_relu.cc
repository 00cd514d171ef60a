// SPDX-License-Identifier: Apache-2.0
// LeakyReLU: the identity for positive elements, something flatter elsewhere.
//   data    f[N, C, d1 …] or f[C]
//   gamma   f[C], f[1], or a shape that broadcasts to data's    prelu only
//   output  f[N, C, d1 …]
//   mask    the same: the slopes                                rrelu only
//     leaky  slope·x            prelu  gamma·x
//     elu    slope·(exp(x) − 1) selu   λ·α·(exp(x) − 1), and λ·x above 0
//     gelu   x·Φ(x) everywhere  rrelu  (lower_bound + upper_bound) / 2 · x
//     gelu_tanh  x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³))) everywhere
// When it trains, rrelu draws a slope for each element, uniform between the
// bounds. The gradient of data: _leaky_relu_gradient, from the output; that of
// gelu, gelu_tanh and prelu from data.
// C1  gamma broadcasts to data, along axis 1 if it has one axis
// Source: MXNet 1.9.1 operator/leaky_relu-inl.h; gelu_tanh: MXNet 2.0.
#include "ir/ops/nn/activation/leaky_relu.h"

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {
namespace {

std::vector<InputSpec> LeakyReluInputs(const LeakyReluAttrs& a) {
  if (a.act_type != LeakyType::kPrelu) return {{"data"}};
  return {{"data"}, {"gamma", InputKind::kParameter}};
}

std::vector<std::string> LeakyReluOutputs(const LeakyReluAttrs& a) {
  if (a.act_type != LeakyType::kRrelu) return {"output"};
  return {"output", "mask"};
}

// Returns whether `gamma` broadcasts to `data`; both are known.
bool SlopesFit(const Shape& gamma, const Shape& data) {
  if (gamma.rank() == 1) {
    return gamma[0] == 1 || gamma[0] == data[data.rank() > 1 ? 1 : 0];
  }
  if (gamma.rank() != data.rank()) return false;
  for (int axis = 0; axis < data.rank(); ++axis) {
    if (gamma[axis] != 1 && gamma[axis] != data[axis]) return false;
  }
  return true;
}

void LeakyReluTypes(const LeakyReluAttrs& a, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  const Shape& data = t.In(0);
  if (a.act_type == LeakyType::kRrelu) t.SetOut(1, data);
  if (a.act_type != LeakyType::kPrelu || !data.known_rank()) return;
  if (data.rank() == 0) return;
  const int64_t channels = data[data.rank() > 1 ? 1 : 0];
  if (!t.In(1).known()) {
    if (!t.In(1).known_rank() || t.In(1).rank() == 1) t.SetIn(1, {channels});
  } else if (data.known()) {
    t.Require(SlopesFit(t.In(1), data),
              "C1: gamma has shape {}, expected ({},) or (1,)",
              ToString(t.In(1)), channels);
  }
}

Expr SlopeOf(const LeakyReluAttrs& a, const Definition& def,
             const std::vector<Expr>& i) {
  if (a.act_type == LeakyType::kLeaky) return def.Lit(a.slope);
  if (a.act_type == LeakyType::kRrelu) {
    return def.Lit((a.lower_bound + a.upper_bound) / 2);
  }
  const Shape& gamma = def.InShape(1);
  if (gamma.rank() == 1 && i.size() > 1) {
    return def.In(1, {gamma[0] == 1 ? Expr(0) : i[1]});
  }
  return def.InBroadcast(1, i);
}

// Φ(x) as Hendrycks and Gimpel 2016 approximate it.
Expr NormalByTanh(const Definition& def, const Expr& x) {
  constexpr double kSqrtTwoByPi = 0.79788456080286535588;
  const Expr argument =
      def.Lit(kSqrtTwoByPi) * (x + def.Lit(0.044715) * x * x * x);
  return def.Lit(0.5) * (def.Lit(1) + Unary(UnaryOp::kTanh, argument));
}

void LeakyReluMeaning(const LeakyReluAttrs& a, Definition& def) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  const std::vector<Expr> i = def.Indices();
  const Expr x = def.In(0, i);
  const Expr positive = x > def.Lit(0);
  const Expr growth = Unary(UnaryOp::kExpm1, x);
  switch (a.act_type) {
    case LeakyType::kElu:
      def.Set(0, Select(positive, x, def.Lit(a.slope) * growth));
      break;
    case LeakyType::kSelu:
      def.Set(0, def.Lit(kSeluScale) *
                     Select(positive, x, def.Lit(kSeluAlpha) * growth));
      break;
    case LeakyType::kGelu:
      def.Set(0,
              def.Lit(0.5) * x *
                  (def.Lit(1) + Unary(UnaryOp::kErf, x * def.Lit(kSqrtHalf))));
      break;
    case LeakyType::kGeluTanh:
      def.Set(0, x * NormalByTanh(def, x));
      break;
    case LeakyType::kRrelu:
      def.Set(1, SlopeOf(a, def, i));
      [[fallthrough]];
    case LeakyType::kLeaky:
    case LeakyType::kPrelu:
      def.Set(0, Select(positive, x, SlopeOf(a, def, i) * x));
      break;
  }
}

bool LeakyReluDraws(const LeakyReluAttrs& a, bool training) {
  return a.act_type == LeakyType::kRrelu && training;
}

std::vector<Value> RreluParts(const LeakyReluAttrs& a, const Node& node,
                              GraphBuilder& b) {
  if (!LeakyReluDraws(a, b.training())) return {};
  const Value x = node.inputs[0];
  const Value drawn =
      b.Mul(b.Uniform(x.shape(), "slopes"), a.upper_bound - a.lower_bound);
  const Value slopes = b.Cast(b.Add(drawn, a.lower_bound), x.type().dtype);
  const Value positive =
      b.Op<op::GreaterScalar>({x}, {.scalar = 0}, "positive");
  return {b.Where(positive, x, b.Mul(x, slopes)), slopes};
}

std::vector<Value> LeakyReluGradient(const LeakyReluAttrs& a,
                                     GradientBuilder& g) {
  switch (a.act_type) {
    case LeakyType::kGelu:
    case LeakyType::kGeluTanh:
      return g.Elementwise();
    case LeakyType::kPrelu:
      return MeaningGradients(g);
    case LeakyType::kRrelu:
      return {g.Op<op::LeakyReLUGradient>({g.Head(), g.Out(), g.Out(1)}, a,
                                          "data")};
    default:
      return {g.Op<op::LeakyReLUGradient>({g.Head(), g.Out()}, a, "data")};
  }
}

}  // namespace

MXC_OP(LeakyReLU) {
  return Op<LeakyReluAttrs>("LeakyReLU")
      .Doc("leaky, prelu, elu, selu, gelu, gelu_tanh or rrelu of each element")
      .Alias({"_npx_leaky_relu"})
      .InputsOf(LeakyReluInputs)
      .OutputsOf(LeakyReluOutputs)
      .Types(LeakyReluTypes)
      .FloatsOnly()
      .Meaning(LeakyReluMeaning)
      .Decompose(RreluParts)
      .RandomIf(LeakyReluDraws)
      .Gradient(LeakyReluGradient);
}

}  // namespace mxc
