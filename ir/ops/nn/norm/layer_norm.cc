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

namespace mxc {
namespace {

void LayerNormTypes(const LayerNormAttrs& a, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  if (t.error()) return;
  t.SetIn(0, t.Out(0));
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
  const Value dy = g.Head();
  const Value normalized = g.Div(g.Sub(g.In(0), g.Out(1)), g.Out(2));
  const auto summed = [&](Value x) {
    return g.Reshape(g.SumTo(x, parameter), {data[axis]});
  };
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    gradients[0] =
        NormalizedGradient(g, g.Mul(dy, g.Reshape(g.In(1), parameter)),
                           normalized, g.Out(2), {axis});
  }
  if (g.Needs(1)) gradients[1] = summed(g.Mul(dy, normalized));
  if (g.Needs(2)) gradients[2] = summed(dy);
  return gradients;
}

}  // namespace

MXC_OP(LayerNorm) {
  return Op<LayerNormAttrs>("LayerNorm")
      .Doc("normalises along one axis")
      .Alias({"_npx_layer_norm"})
      .Inputs({{"data"},
               {"gamma", InputKind::kParameter},
               {"beta", InputKind::kParameter}})
      .Outputs({"output", "mean", "std"})
      .VisibleOutputsOf(
          [](const LayerNormAttrs& a) { return a.output_mean_var ? 3 : 1; })
      .Types(LayerNormTypes)
      .FloatsOnly()
      .Meaning(LayerNormMeaning)
      .Gradient(LayerNormGradient);
}

}  // namespace mxc
