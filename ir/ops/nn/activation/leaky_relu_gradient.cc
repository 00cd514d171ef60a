// SPDX-License-Identifier: Apache-2.0
// _leaky_relu_gradient: the gradient of LeakyReLU's data from its output y.
//   head, output  f[d1 …]
//   mask          f[d1 …]   rrelu only: its slopes
//   gradient      f[d1 …]   head where y > 0, else head times
//     leaky  slope    elu  y + slope    selu  y + α    rrelu  mask
//                 and, for selu, λ everywhere. (The derivative of selu is y +
//                 λ·α there; MXNet forgets a λ.)
// Attributes: LeakyReLU's.
// Source: MXNet 1.9.1 operator/mshadow_op.h.
#include "ir/ops/nn/activation/leaky_relu.h"

namespace mxc {
namespace {

std::vector<InputSpec> LeakyReluGradientInputs(const LeakyReluAttrs& a) {
  if (a.act_type != LeakyType::kRrelu) return {{"head"}, {"output"}};
  return {{"head"}, {"output"}, {"mask"}};
}

void LeakyReluGradientTypes(const LeakyReluAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

void LeakyReluGradientMeaning(const LeakyReluAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr y = def.In(1, i);
  double above = 1;
  Expr below = def.Lit(a.slope);
  if (a.act_type == LeakyType::kRrelu) below = def.In(2, i);
  if (a.act_type == LeakyType::kElu) below = y + below;
  if (a.act_type == LeakyType::kSelu) {
    above = kSeluScale;
    below = def.Lit(kSeluScale) * (y + def.Lit(kSeluAlpha));
  }
  def.Set(0, def.In(0, i) *
                 Select(y > def.Lit(0), def.Lit(above), std::move(below)));
}

}  // namespace

MXC_OP(LeakyReLUGradient) {
  return Op<LeakyReluAttrs>("_leaky_relu_gradient")
      .Internal()
      .Doc("the gradient of LeakyReLU")
      .InputsOf(LeakyReluGradientInputs)
      .Outputs({"gradient"})
      .Types(LeakyReluGradientTypes)
      .Meaning(LeakyReluGradientMeaning);
}

}  // namespace mxc
