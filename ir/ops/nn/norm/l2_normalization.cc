// SPDX-License-Identifier: Apache-2.0
// L2Normalization: divides by the Euclidean norm.
//   data    f[N, d1 …]
//   output  x / norm
//   norm    √(Σ x² + eps): f[N] over all axes but the first (instance), f[N,
//           d2 …] over axis 1 (channel), f[N, d1] over the rest (spatial);
//           hidden
// C1  data has an axis, in modes channel and spatial at least 3
// Source: MXNet 1.9.1 operator/l2_normalization-inl.h.
#include "ir/ops/nn/norm/l2_normalization.h"

#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

void L2NormalizationTypes(const L2NormalizationAttrs& a, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  if (!t.In(0).known_rank()) return;
  const Shape& data = t.In(0);
  const int least = a.mode == NormMode::kInstance ? 1 : 3;
  if (!t.Require(data.rank() >= least,
                 "C1: data has {} axes, expected at least {}", data.rank(),
                 least)) {
    return;
  }
  Extents kept;
  for (int axis = 0; axis < data.rank(); ++axis) {
    if (!a.reduces(axis)) kept.push_back(data[axis]);
  }
  t.SetOut(1, kept);
}

void L2NormalizationMeaning(const L2NormalizationAttrs& a, Definition& def) {
  Extents axes;
  for (int axis = 0; axis < def.InShape(0).rank(); ++axis) {
    if (a.reduces(axis)) axes.push_back(axis);
  }
  const auto norm = [&](const std::vector<Expr>& index) {
    const Expr sum = def.ReduceAxes(ReduceOp::kSum, 0, axes, index,
                                    [](Expr x) { return x * x; });
    return Sqrt(sum + def.Lit(a.eps));
  };
  const std::vector<Expr> i = def.Indices();
  std::vector<Expr> kept;
  for (size_t axis = 0; axis < i.size(); ++axis) {
    if (!a.reduces(static_cast<int>(axis))) kept.push_back(i[axis]);
  }
  def.Set(0, def.In(0, i) / norm(kept));
  def.Set(1, norm(def.Indices(1)));
}

// (dy − y · Σ dy · y) / norm
std::vector<Value> L2NormalizationGradient(const L2NormalizationAttrs& a,
                                           GradientBuilder& g) {
  Extents axes, kept = g.In(0).shape().dims();
  for (int axis = 0; axis < g.In(0).shape().rank(); ++axis) {
    if (!a.reduces(axis)) continue;
    axes.push_back(axis);
    kept[axis] = 1;
  }
  const Value dy = g.Head(), y = g.Out();
  const Value product = g.Mul(dy, y);
  const Value along =
      g.Mul(y, axes.empty() ? product : g.Sum(product, axes, true));
  return {g.Div(g.Sub(dy, along), g.Reshape(g.Out(1), kept))};
}

}  // namespace

MXC_OP(L2Normalization) {
  return Op<L2NormalizationAttrs>("L2Normalization")
      .Doc("divides by the Euclidean norm")
      .Outputs({"output", "norm"}, 1)
      .Types(L2NormalizationTypes)
      .FloatsOnly()
      .Meaning(L2NormalizationMeaning)
      .Gradient(L2NormalizationGradient);
}

}  // namespace mxc
