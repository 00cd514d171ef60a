// SPDX-License-Identifier: Apache-2.0
// LayerNorm: normalises along one axis.
//   data         f[d1 …]
//   gamma, beta  f[d of axis]
//   output       (x − mean) / std · gamma + beta
//   mean, std    data's shape with 1 at axis; std = √(var + eps), var biased;
//                visible with output_mean_var, no gradient passes through them
// C1  axis is one of data's
// C2  gamma and beta have one entry for each position along axis
// Source: MXNet 1.9.1 operator/nn/layer_norm.cc.
#include "ir/ops/nn/norm/layer_norm.h"

#include "ir/ops/nn/norm/moments.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

void LayerNormTypes(const LayerNormAttrs& a, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  const int axis = a.axis_of(data.rank());
  if (!t.Require(axis >= 0 && axis < data.rank(),
                 "C1: axis {} is not one of the {} of data", a.axis,
                 data.rank())) {
    return;
  }
  Shape moments = data;
  moments[axis] = 1;
  for (int i = 1; i < 3; ++i) {
    if (t.In(i).known() && data.known(axis)) {
      t.Require(t.In(i) == Shape{data[axis]},
                "C2: {} has shape {}, expected ({},)",
                i == 1 ? "gamma" : "beta", ToString(t.In(i)), data[axis]);
    }
    t.SetIn(i, {data[axis]});
    t.SetOut(i, moments);
  }
}

void LayerNormMeaning(const LayerNormAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int axis = a.axis_of(static_cast<int>(i.size()));
  std::vector<Expr> kept = i;
  kept.erase(kept.begin() + axis);
  const Moments m = MomentsOver(def, {axis}, kept, def.OutDType());
  const Expr deviation = Sqrt(m.variance + def.Lit(a.eps));
  def.Set(0, (def.In(0, i) - m.mean) / deviation * def.In(1, {i[axis]}) +
                 def.In(2, {i[axis]}));
  def.Set(1, m.mean);
  def.Set(2, deviation);
}

std::vector<Value> LayerNormGradient(const LayerNormAttrs& a,
                                     GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  const int axis = a.axis_of(data.rank());
  Extents parameter(data.rank(), 1);
  parameter[axis] = data[axis];
  const Value normalized = g.Div(g.Sub(g.In(0), g.Out(1)), g.Out(2));
  return NormGradients(g, g.Head(), {normalized, g.Out(2), {axis}, parameter});
}

}  // namespace

MXC_OP(LayerNorm) {
  return NormOperator<LayerNormAttrs>("LayerNorm")
      .Doc("normalises along one axis")
      .Alias({"_npx_layer_norm"})
      .Types(LayerNormTypes)
      .FloatsOnly()
      .Meaning(LayerNormMeaning)
      .Gradient(LayerNormGradient);
}

}  // namespace mxc
