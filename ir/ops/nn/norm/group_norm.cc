// SPDX-License-Identifier: Apache-2.0
// GroupNorm: normalises groups of channels of each image.
//   data         f[N, C, d1 …]
//   gamma, beta  f[num_groups] (1.x), or f[C] (2.x)
//   output       (x − mean) / std · gamma + beta
//   mean, std    f[N, num_groups]; std = √(var + eps), var biased; visible
//                with output_mean_var, no gradient passes through them
// C1  data has at least 3 axes
// C2  num_groups divides the channels
// C3  gamma and beta have one entry for each group, or for each channel
// Source: MXNet 1.9.1 operator/nn/group_norm.cc.
#include "ir/ops/nn/norm/group_norm.h"

#include "ir/ops/nn/norm/moments.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

void GroupNormTypes(const GroupNormAttrs& a, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() >= 3, "C1: data has {} axes, expected at least 3",
                 data.rank()) ||
      !t.Require(!data.known(1) || data[1] % a.num_groups == 0,
                 "C2: num_groups {} does not divide {} channels", a.num_groups,
                 data[1])) {
    return;
  }
  for (int i = 1; i < 3; ++i) {
    t.SetOut(i, {data[0], a.num_groups});
    if (!t.In(i).known()) {
      t.SetIn(i, {a.num_groups});
    } else if (data.known(1)) {
      t.Require(t.In(i) == Shape{a.num_groups} || t.In(i) == Shape{data[1]},
                "C3: {} has shape {}, expected ({},)",
                i == 1 ? "gamma" : "beta", ToString(t.In(i)), a.num_groups);
    }
  }
}

Moments GroupMoments(const GroupNormAttrs& a, const Definition& def, Expr batch,
                     Expr group) {
  const Shape& data = def.InShape(0);
  const int64_t channels = data[1] / a.num_groups;
  std::vector<Expr> extents = {channels};
  int64_t count = channels;
  for (int axis = 2; axis < data.rank(); ++axis) {
    extents.push_back(data[axis]);
    count *= data[axis];
  }
  return MomentsOf(
      count, def.OutDType(), [&](const std::function<Expr(Expr)>& f) {
        return Definition::Sum(extents, [&](const std::vector<Expr>& r) {
          std::vector<Expr> index = {batch, group * channels + r[0]};
          index.insert(index.end(), r.begin() + 1, r.end());
          return f(def.In(0, index));
        });
      });
}

void GroupNormMeaning(const GroupNormAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t channels = def.InShape(0)[1] / a.num_groups;
  const Expr group = i[1] / channels;
  const auto entry = [&](int input) {
    return def.In(input,
                  {def.InShape(input)[0] == a.num_groups ? group : i[1]});
  };
  const Moments own = GroupMoments(a, def, i[0], group);
  const Expr deviation = Sqrt(own.variance + def.Lit(a.eps));
  def.Set(0, (def.In(0, i) - own.mean) / deviation * entry(1) + entry(2));
  const Moments shown = GroupMoments(a, def, Var(0), Var(1));
  def.Set(1, shown.mean);
  def.Set(2, Sqrt(shown.variance + def.Lit(a.eps)));
}

// Seen as f[N, groups, channels of a group, cells], and parameters accordingly.
std::vector<Value> GroupNormGradient(const GroupNormAttrs& a,
                                     GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  const int64_t channels = data[1] / a.num_groups;
  const Extents full = {data[0], a.num_groups, channels,
                        data.elements() / (data[0] * data[1])};
  const Extents moments = {data[0], a.num_groups, 1, 1};
  const bool of_groups = g.In(1).shape() == Shape{a.num_groups};
  const Extents parameter = {1, a.num_groups, of_groups ? 1 : channels, 1};
  const Value dy = g.Reshape(g.Head(), full);
  const Value deviation = g.Reshape(g.Out(2), moments);
  const Value normalized = g.Div(
      g.Sub(g.Reshape(g.In(0), full), g.Reshape(g.Out(1), moments)), deviation);
  return NormGradients(g, dy, {normalized, deviation, {2, 3}, parameter});
}

}  // namespace

MXC_OP(GroupNorm) {
  return NormOperator<GroupNormAttrs>("GroupNorm")
      .Doc("normalises groups of channels of each image")
      .Types(GroupNormTypes)
      .FloatsOnly()
      .Meaning(GroupNormMeaning)
      .Gradient(GroupNormGradient);
}

}  // namespace mxc
