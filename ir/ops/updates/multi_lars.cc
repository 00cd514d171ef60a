// SPDX-License-Identifier: Apache-2.0
// multi_lars: the rate of each weight, by the sums of the squares of its elements
// and of its gradient's.
//   inputs   f32[S…], one number for each weight
//   output   f32[S…] = lr · LarsRatio of formulas.h; lr where a sum is 0
// Source: MXNet 1.9.1 operator/contrib/multi_lars-inl.h.
#include "ir/ops/op.h"
#include "ir/ops/updates/formulas.h"

namespace mxc {
namespace {

struct MultiLarsAttrs {
  double eta = 0, eps = 0, rescale_grad = 1;

  void Describe(Fields& f) {
    f("eta", eta)
        .Required()
        .Doc("the length of a step, relative to a weight's");
    f("eps", eps).Required().Doc("keeps the divisor from 0");
    f("rescale_grad", rescale_grad).Doc("multiplies the gradients");
  }
};

void MultiLarsTypes(const MultiLarsAttrs&, TypeInference& t) {
  t.AllSameShape();
  for (int i = 0; i < t.inputs(); ++i) t.SetInDType(i, DType::kF32);
  t.SetOutDType(0, DType::kF32);
}

void MultiLarsMeaning(const MultiLarsAttrs& a, Definition& def) {
  const auto at = [&](int input) { return def.In(input, def.Indices()); };
  const Expr rate = at(0), weights = at(1), gradients = at(2);
  const Expr ratio = LarsRatio(def.Lit(a.eta), Sqrt(weights),
                               Sqrt(gradients) * def.Lit(a.rescale_grad), at(3),
                               def.Lit(a.eps));
  const Expr zero = def.Lit(0);
  def.Set(0, Select(zero < weights && zero < gradients, rate * ratio, rate));
}

}  // namespace

MXC_OP(MultiLars) {
  return Op<MultiLarsAttrs>("multi_lars")
      .Doc("the rates of lars, from sums of squares")
      .Inputs({{"lrs"}, {"weights_sum_sq"}, {"grads_sum_sq"}, {"wds"}})
      .Types(MultiLarsTypes)
      .Meaning(MultiLarsMeaning);
}

}  // namespace mxc
