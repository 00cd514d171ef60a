// SPDX-License-Identifier: Apache-2.0
// _pooling_gradient: the gradient of Pooling's data.
//   head      f[N, C, o1 … ok]   of Pooling's output
//   max  position   that of _pooling_argmax
//   lp   data, output            Pooling's
//   gradient  f[N, C, d1 … dk], of shape data_shape: the sum over the windows
//             that a cell lies in of
//               max  head where position names the cell    sum  head
//               avg  head / cells                          lp   head ·
//               (data / output)^(p − 1), 0 for an output of 0
// Attributes: Pooling's, and data_shape.
// Source: MXNet 1.9.1 operator/nn/pool.h.
#include "ir/ops/nn/pooling/pooling_gradient.h"
#include "ir/ops/nn/pooling/pooling.h"

namespace mxc {
namespace {

std::vector<InputSpec> PoolingGradientInputs(const PoolingGradientAttrs& a) {
  if (a.pool_type == PoolType::kMax) return {{"head"}, {"position"}};
  if (a.pool_type == PoolType::kLp) return {{"head"}, {"data"}, {"output"}};
  return {{"head"}};
}

void PoolingGradientTypes(const PoolingGradientAttrs& a, TypeInference& t) {
  t.SetOut(0, Shape(a.data_shape));
  t.SetOutDType(0, t.InDType(0));
}

// The gradient that the window of the output's element `at` passes to data's
// element `i`, which is cell `cell` of its kernel.
Expr PoolingPassed(const PoolingGradientAttrs& a, const Definition& def,
                   const std::vector<Expr>& i, const std::vector<Expr>& at,
                   const Expr& cell) {
  const Expr head = def.In(0, at);
  switch (a.pool_type) {
    case PoolType::kMax:
      return Select(Cast(def.In(1, at), DType::kI32) == Cast(cell, DType::kI32),
                    head, def.Lit(0));
    case PoolType::kAvg: {
      const PoolingWindow window =
          WindowOf(a, def.OutShape(), def.InShape(0), at);
      return head / Cast(window.cells, def.OutDType());
    }
    case PoolType::kSum:
      return head;
    case PoolType::kLp:
      break;
  }
  const Expr y = def.In(2, at), ratio = def.In(1, i) / y;
  const int64_t p = *a.p_value;
  const Expr slope = p == 1 ? head : head * (p == 2 ? ratio : ratio * ratio);
  return Select(y == def.Lit(0), def.Lit(0), slope);
}

void PoolingGradientMeaning(const PoolingGradientAttrs& a, Definition& def) {
  const Shape& data = def.OutShape();
  const SpatialAxes axes = a.axes(data.rank());
  const std::vector<Expr> i = def.Indices();
  std::vector<PoolingAxis> spatial;
  std::vector<Expr> position;
  Extents kernel;
  for (int d = 0; d < axes.rank; ++d) {
    spatial.push_back(AxisOf(a, data, def.InShape(0), d));
    position.push_back(i[axes.spatial(d)]);
    kernel.push_back(spatial.back().kernel);
  }
  def.Set(0, SumOverWindows(spatial, position, def.Lit(0),
                            [&](const std::vector<Expr>& window,
                                const std::vector<Expr>& offset) {
                              return PoolingPassed(
                                  a, def, i,
                                  axes.Index(i[0], i[axes.channel()], window),
                                  Definition::Flatten(offset, Shape(kernel)));
                            }));
}

}  // namespace

MXC_OP(PoolingGradient) {
  return Op<PoolingGradientAttrs>("_pooling_gradient")
      .Internal()
      .Doc("the gradient of Pooling")
      .InputsOf(PoolingGradientInputs)
      .Outputs({"gradient"})
      .Types(PoolingGradientTypes)
      .Meaning(PoolingGradientMeaning);
}

}  // namespace mxc
