// SPDX-License-Identifier: Apache-2.0
// _activation_gradient: the gradient of Activation's data.
//   head      f[d1 …]   of Activation's output
//   from      f[d1 …]   that output y; for softsign Activation's data x
//   gradient  f[d1 …]   head times
//     relu      1 above 0, NaN for NaN, else 0    sigmoid   y · (1 − y)
//     tanh      1 − y²                            softrelu  1 − exp(−y)
//     softsign  1 / (1 + |x|)²
// Attributes: Activation's.
// Source: MXNet 1.9.1 operator/mshadow_op.h.
#include "ir/ops/nn/activation/activation.h"

namespace mxc {
namespace {

void ActivationGradientTypes(const ActivationAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

Expr ActivationSlope(ActType type, const Expr& from) {
  const Expr one = Lit(1, from);
  switch (type) {
    case ActType::kRelu:
      return Select(Unary(UnaryOp::kIsNan, from), from,
                    Select(from > Lit(0, from), one, Lit(0, from)));
    case ActType::kSigmoid:
      return from * (one - from);
    case ActType::kTanh:
      return one - from * from;
    case ActType::kSoftRelu:
      return -Unary(UnaryOp::kExpm1, -from);
    case ActType::kSoftSign: {
      const Expr length = one + Abs(from);
      return one / (length * length);
    }
  }
  MXC_CHECK(false);
  return from;
}

void ActivationGradientMeaning(const ActivationAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  def.Set(0, def.In(0, i) * ActivationSlope(a.act_type, def.In(1, i)));
}

}  // namespace

MXC_OP(ActivationGradient) {
  return Op<ActivationAttrs>("_activation_gradient")
      .Internal()
      .Doc("the gradient of Activation")
      .Inputs({{"head"}, {"from"}})
      .Outputs({"gradient"})
      .Types(ActivationGradientTypes)
      .Meaning(ActivationGradientMeaning);
}

}  // namespace mxc
