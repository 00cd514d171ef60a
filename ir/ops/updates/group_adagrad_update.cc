// SPDX-License-Identifier: Apache-2.0
// _contrib_group_adagrad_update: adagrad with one sum for each row.
//   weight, grad   f[N, M…]
//   history        f[N, 1], a state
//   output         f[N, M…]: w − lr·g / √(h + ε), g = clip(rescale·grad)
//   next_history   f[N, 1]: h ← h + the mean of the row's g²
// Formulas are in f64 for weights of f64, else in f32. Gradients do not pass.
// C1  weight has 2 axes or more
#include "ir/ops/updates/update.h"

namespace mxc {
namespace {

struct GroupAdagradUpdateAttrs {
  double lr = 0, rescale_grad = 1, clip_gradient = -1, epsilon = 1e-5;

  void Describe(Fields& f) {
    f("lr", lr).Required().Doc("learning rate");
    f("rescale_grad", rescale_grad).Doc("multiplies the gradient");
    f("clip_gradient", clip_gradient)
        .Doc("limits it to ±this; no limit if below 0");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
  }
};

void GroupAdagradTypes(const GroupAdagradUpdateAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetIn(0, t.Out(0));
  t.SetIn(0, t.In(1));
  const Shape& weight = t.In(0);
  t.SetIn(1, weight);
  t.SetOut(0, weight);
  if (!weight.known_rank()) return;
  if (!t.Require(weight.rank() >= 2,
                 "C1: weight has shape {}, expected 2 axes or more",
                 ToString(weight))) {
    return;
  }
  const Shape history = {weight[0], 1};
  t.SetIn(2, history);
  t.SetOut(1, history);
}

void GroupAdagradMeaning(const GroupAdagradUpdateAttrs& a, Definition& def) {
  const DType dtype = def.InDType(0) == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto literal = [&](double value) { return Constant(value, dtype); };
  const auto gradient = [&](const std::vector<Expr>& at) {
    const Expr g = literal(a.rescale_grad) * Cast(def.In(1, at), dtype);
    return a.clip_gradient < 0 ? g : ClippedTo(g, literal(a.clip_gradient));
  };
  const Extents& dims = def.InShape(0).dims();
  const std::vector<Expr> row_extents(dims.begin() + 1, dims.end());
  const auto elements =
      static_cast<double>(def.InShape(0).elements() / dims[0]);
  const auto history = [&](const Expr& row) {
    const Expr sum =
        Definition::Sum(row_extents, [&](std::vector<Expr> at) -> Expr {
          at.insert(at.begin(), row);
          const Expr g = gradient(at);
          return g * g;
        });
    return Cast(def.In(2, {row, Expr(0)}), dtype) + sum / literal(elements);
  };
  const std::vector<Expr> at = def.Indices();
  def.Set(0, Cast(def.In(0, at), dtype) -
                 literal(a.lr) * gradient(at) /
                     Sqrt(history(at[0]) + literal(a.epsilon)));
  def.Set(1, history(def.Indices(1)[0]));
}

}  // namespace

MXC_OP(GroupAdagradUpdate) {
  return Op<GroupAdagradUpdateAttrs>("_contrib_group_adagrad_update")
      .Doc("the step of adagrad with a sum for each row")
      .Inputs({{"weight"}, {"grad"}, {"history", InputKind::kState}})
      .Outputs({"output", "next_history"}, 1)
      .NextStates(1)
      .Types(GroupAdagradTypes)
      .FloatsOnly()
      .Meaning(GroupAdagradMeaning);
}

}  // namespace mxc
