// SPDX-License-Identifier: Apache-2.0
// _pooling_v1_gradient: the gradient of Pooling_v1's data.
//   head          f[N, C, h, w]   of Pooling_v1's output
//   data, output                  Pooling_v1's, max only
//   gradient      f[N, C, H, W], of shape data_shape: the sum over the windows
//                 that a cell lies in of head (sum), head / (the kernel's
//                 cells) (avg), or head where the cell holds the maximum (max;
//                 each that does gets it)
// Attributes: Pooling_v1's, and data_shape.
// Source: MXNet 1.9.1 operator/pooling_v1-inl.h, mshadow/extension/unpool.h.
#include "ir/ops/nn/pooling/pooling_v1_gradient.h"
#include "ir/ops/nn/pooling/pooling_v1.h"

namespace mxc {
namespace {

std::vector<InputSpec> PoolingV1GradientInputs(
    const PoolingV1GradientAttrs& a) {
  if (a.pool_type != PoolV1Type::kMax) return {{"head"}};
  return {{"head"}, {"data"}, {"output"}};
}

void PoolingV1GradientTypes(const PoolingV1GradientAttrs& a, TypeInference& t) {
  t.SetOut(0, Shape(a.data_shape));
  t.SetOutDType(0, t.InDType(0));
}

void PoolingV1GradientMeaning(const PoolingV1GradientAttrs& a,
                              Definition& def) {
  const Shape& data = def.OutShape();
  const std::vector<Expr> i = def.Indices();
  const std::vector<PoolingAxis> axes = {RowOf(a, 0, data[2]),
                                         RowOf(a, 1, data[3])};
  const int64_t area = axes[0].kernel * axes[1].kernel;
  def.Set(0,
          SumOverWindows(
              axes, {i[2], i[3]}, def.Lit(0),
              [&](const std::vector<Expr>& window, const std::vector<Expr>&) {
                const std::vector<Expr> at = {i[0], i[1], window[0], window[1]};
                const Expr head = def.In(0, at);
                switch (a.pool_type) {
                  case PoolV1Type::kMax:
                    return Select(def.In(1, i) == def.In(2, at), head,
                                  def.Lit(0));
                  case PoolV1Type::kAvg:
                    return head / def.Lit(static_cast<double>(area));
                  case PoolV1Type::kSum:
                    break;
                }
                return head;
              }));
}

}  // namespace

MXC_OP(PoolingV1Gradient) {
  return Op<PoolingV1GradientAttrs>("_pooling_v1_gradient")
      .Internal()
      .Doc("the gradient of Pooling_v1")
      .InputsOf(PoolingV1GradientInputs)
      .Outputs({"gradient"})
      .Types(PoolingV1GradientTypes)
      .Meaning(PoolingV1GradientMeaning);
}

}  // namespace mxc
