// SPDX-License-Identifier: Apache-2.0
// InstanceNorm: normalises each channel of each image.
//   data         f[N, C, d1 …]
//   gamma, beta  f[C]
//   output       (x − mean) / √(var + eps) · gamma + beta
//   mean, var    f[N, C] over d1 …, var biased; hidden
// C1  data has at least 3 axes
// C2  gamma and beta have one entry for each channel
// Source: MXNet 1.9.1 operator/instance_norm-inl.h.
#include "ir/ops/nn/norm/instance_norm.h"

#include "ir/ops/nn/norm/moments.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

void InstanceNormTypes(const InstanceNormAttrs&, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() >= 3, "C1: data has {} axes, expected at least 3",
                 data.rank())) {
    return;
  }
  for (int i = 1; i < 3; ++i) {
    if (t.In(i).known() && data.known(1)) {
      t.Require(t.In(i) == Shape{data[1]},
                "C2: {} has shape {}, expected ({},)",
                i == 1 ? "gamma" : "beta", ToString(t.In(i)), data[1]);
    }
    t.SetIn(i, {data[1]});
    t.SetOut(i, {data[0], data[1]});
  }
}

void InstanceNormMeaning(const InstanceNormAttrs& a, Definition& def) {
  Extents axes;
  for (int axis = 2; axis < def.InShape(0).rank(); ++axis) axes.push_back(axis);
  const std::vector<Expr> i = def.Indices();
  const Moments m = MomentsOver(def, axes, {i[0], i[1]}, def.OutDType());
  const Expr scale = def.In(1, {i[1]}) / Sqrt(m.variance + def.Lit(a.eps));
  def.Set(0, (def.In(0, i) - m.mean) * scale + def.In(2, {i[1]}));
  def.Set(1, m.mean);
  def.Set(2, m.variance);
}

std::vector<Value> InstanceNormGradient(const InstanceNormAttrs& a,
                                        GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  Extents moments(data.rank(), 1), parameter(data.rank(), 1), axes;
  moments[0] = data[0];
  moments[1] = parameter[1] = data[1];
  for (int axis = 2; axis < data.rank(); ++axis) axes.push_back(axis);
  const Value deviation = g.Reshape(g.Sqrt(g.Add(g.Out(2), a.eps)), moments);
  const Value normalized =
      g.Div(g.Sub(g.In(0), g.Reshape(g.Out(1), moments)), deviation);
  return NormGradients(g, g.Head(), {normalized, deviation, axes, parameter});
}

}  // namespace

MXC_OP(InstanceNorm) {
  return Op<InstanceNormAttrs>("InstanceNorm")
      .Doc("normalises each channel of each image")
      .Inputs({{"data"},
               {"gamma", InputKind::kParameter},
               {"beta", InputKind::kParameter}})
      .Outputs({"output", "mean", "var"}, 1)
      .Types(InstanceNormTypes)
      .FloatsOnly()
      .Meaning(InstanceNormMeaning)
      .Gradient(InstanceNormGradient);
}

}  // namespace mxc
