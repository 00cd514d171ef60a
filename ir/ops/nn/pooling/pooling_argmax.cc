// SPDX-License-Identifier: Apache-2.0
// _pooling_argmax: where in its window max Pooling finds the maximum.
//   data      f[N, C, d1 … dk]
//   position  u8 (windows of more than 255 cells: i32), of the shape of
//             Pooling's output: the row-major number, in the whole kernel, of
//             the first cell that holds the maximum; the number of the kernel's
//             cells where there is none (all NaN, or an empty window)
// Attributes: Pooling's.
// Source: MXNet 1.9.1 operator/nn/pool.h (unpool_max_2d_cpu).
#include <limits>

#include "ir/ops/nn/pooling/pooling.h"

namespace mxc {
namespace {

constexpr int64_t kMostNarrow = 255;

Extents PoolingKernel(const PoolingAttrs& a, const Shape& data) {
  if (!a.global_pool) return a.kernel;
  const SpatialAxes axes = a.axes(data.rank());
  Extents kernel;
  for (int d = 0; d < axes.rank; ++d) kernel.push_back(data[axes.spatial(d)]);
  return kernel;
}

void PoolingArgmaxTypes(const PoolingAttrs& a, TypeInference& t) {
  const Shape& data = t.In(0);
  if (!data.known()) return;
  const SpatialAxes axes = a.axes(data.rank());
  Shape output = data;
  for (int d = 0; d < axes.rank; ++d) {
    const int axis = axes.spatial(d);
    output[axis] = PoolingExtent(a, d, data[axis]);
  }
  t.SetOut(0, output);
  const int64_t cells = Shape(PoolingKernel(a, data)).elements();
  t.SetOutDType(0, cells <= kMostNarrow ? DType::kU8 : DType::kI32);
}

void PoolingArgmaxMeaning(const PoolingAttrs& a, Definition& def) {
  const Shape &data = def.InShape(0), &output = def.OutShape();
  const SpatialAxes axes = a.axes(data.rank());
  const std::vector<Expr> i = def.Indices();
  const PoolingWindow window = WindowOf(a, data, output, i);
  const Shape kernel = PoolingKernel(a, data);
  const auto cell = [&](const std::vector<Expr>& at) {
    return def.In(0, axes.Index(i[0], i[axes.channel()], at));
  };
  const Expr max =
      Definition::ReduceOver(ReduceOp::kMax, window.begin, window.end, cell);
  const Expr none =
      Constant(static_cast<double>(kernel.elements()), DType::kI32);
  const Expr first = Definition::ReduceOver(
      ReduceOp::kMin, window.begin, window.end,
      [&](const std::vector<Expr>& at) {
        std::vector<Expr> offset;
        for (int d = 0; d < axes.rank; ++d) {
          const PoolingAxis axis = AxisOf(a, data, output, d);
          offset.push_back(at[d] + axis.pad - i[axes.spatial(d)] * axis.stride);
        }
        const Expr number = Definition::Flatten(offset, kernel);
        return Select(cell(at) == max, Cast(number, DType::kI32), none);
      });
  def.Set(0, window.may_be_empty ? Min(first, none) : first);
}

}  // namespace

MXC_OP(PoolingArgmax) {
  return Op<PoolingAttrs>("_pooling_argmax")
      .Internal()
      .Doc("where in its window max pooling finds the maximum")
      .Outputs({"position"})
      .Types(PoolingArgmaxTypes)
      .Meaning(PoolingArgmaxMeaning);
}

}  // namespace mxc
