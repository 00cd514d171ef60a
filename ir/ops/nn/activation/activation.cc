// SPDX-License-Identifier: Apache-2.0
// Activation: a function of each element.
//   data    f[d1 …]
//   output  f[d1 …]
//     relu      max(x, 0)              sigmoid   1 / (1 + exp(−x))
//     tanh      tanh(x)                softrelu  x > 20 ? x : log1p(exp(x))
//     softsign  x / (1 + |x|)
// The gradient: _activation_gradient, from the output (softsign: from data).
// Source: MXNet 1.9.1 operator/nn/activation.cc, mshadow_op.h.
#include "ir/ops/nn/activation/activation.h"

namespace mxc {

Expr Sigmoid(Expr x) { return Lit(1, x) / (Lit(1, x) + Exp(-x)); }

Expr Relu(Expr x) { return Max(x, Lit(0, x)); }

// Above 20 exp(x) + 1 is exp(x) in float, and much above it overflows.
Expr SoftRelu(Expr x) {
  return Select(x > Lit(20, x), x, Unary(UnaryOp::kLog1p, Exp(x)));
}

Expr SoftSign(Expr x) { return x / (Lit(1, x) + Abs(x)); }

namespace {

void ActivationTypes(const ActivationAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

Expr Activate(ActType type, Expr x) {
  switch (type) {
    case ActType::kRelu:
      return Relu(x);
    case ActType::kSigmoid:
      return Sigmoid(x);
    case ActType::kTanh:
      return Tanh(x);
    case ActType::kSoftRelu:
      return SoftRelu(x);
    case ActType::kSoftSign:
      return SoftSign(x);
  }
  MXC_CHECK(false);
}

void ActivationMeaning(const ActivationAttrs& a, Definition& def) {
  def.Set(0, Activate(a.act_type, def.In(0, def.Indices())));
}

std::vector<Value> ActivationGradient(const ActivationAttrs& a,
                                      GradientBuilder& g) {
  const bool from_data = a.act_type == ActType::kSoftSign;
  return {g.Op<op::ActivationGradient>(
      {g.Head(), from_data ? g.In(0) : g.Out()}, a, "data")};
}

}  // namespace

MXC_OP(Activation) {
  return Op<ActivationAttrs>("Activation")
      .Doc("relu, sigmoid, tanh, softrelu or softsign of each element")
      .Alias({"_npx_activation"})
      .Types(ActivationTypes)
      .Meaning(ActivationMeaning)
      .Gradient(ActivationGradient);
}

}  // namespace mxc
