// SPDX-License-Identifier: Apache-2.0
// IdentityAttachKLSparseReg: the identity, whose gradient pulls the mean
// activation of each unit to sparseness_target.
//   data        f[N, K]
//   moving_avg  f[K], a state
//   output      f[N, K]
//   next_moving_avg  f[K]: its next value m, when it trains moving_avg ·
//                    momentum + mean of data · (1 − momentum)
// The gradient of data is the output's, plus penalty · ((1 − target) / (1 − m)
// − target / m), target the sparseness_target.
// Source: MXNet 1.9.1 operator/identity_attach_KL_sparse_reg-inl.h.
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

struct KlSparseRegAttrs {
  double sparseness_target = 0.1;
  double penalty = 0.001;
  double momentum = 0.9;

  void Describe(Fields& f) {
    f("sparseness_target", sparseness_target)
        .Range(0, 1)
        .Doc("mean activation aimed at");
    f("penalty", penalty).Doc("factor of the gradient");
    f("momentum", momentum).Range(0, 1).Doc("of moving_avg");
  }
};

void KlSparseRegTypes(const KlSparseRegAttrs&, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  if (!t.In(0).known_rank() || t.In(0).rank() < 2) return;
  t.SetIn(1, {t.In(0)[1]});
  t.SetOut(1, {t.In(0)[1]});
}

void KlSparseRegMeaning(const KlSparseRegAttrs& a, Definition& def) {
  def.Set(0, def.In(0, def.Indices()));
  const Expr moving = def.In(1, {Var(0)});
  if (!def.training()) return def.Set(1, moving);
  const Shape& data = def.InShape(0);
  Extents others = {0};
  for (int axis = 2; axis < data.rank(); ++axis) others.push_back(axis);
  const Expr mean = def.ReduceAxes(ReduceOp::kSum, 0, others, {Var(0)},
                                   [](Expr x) { return x; }) /
                    def.Lit(static_cast<double>(data[0]));
  def.Set(1, moving * def.Lit(a.momentum) + mean * def.Lit(1 - a.momentum));
}

std::vector<Value> KlSparseRegGradient(const KlSparseRegAttrs& a,
                                       GradientBuilder& g) {
  const Value moving = g.Out(1);
  const Value pull = g.Sub(g.Div(1 - a.sparseness_target, g.Sub(1, moving)),
                           g.Div(a.sparseness_target, moving));
  Extents along(g.In(0).shape().rank(), 1);
  along[1] = g.In(0).shape()[1];
  return {g.Add(g.Head(), g.Reshape(g.Mul(pull, a.penalty), along)), Value()};
}

}  // namespace

MXC_OP(IdentityAttachKLSparseReg) {
  return Op<KlSparseRegAttrs>("IdentityAttachKLSparseReg")
      .Doc("the identity, with a gradient towards sparse activations")
      .Inputs({{"data"}, {"moving_avg", InputKind::kState}})
      .Outputs({"output", "next_moving_avg"}, 1)
      .NextStates(1)
      .Types(KlSparseRegTypes)
      .FloatsOnly()
      .Meaning(KlSparseRegMeaning)
      .Gradient(KlSparseRegGradient);
}

}  // namespace mxc
