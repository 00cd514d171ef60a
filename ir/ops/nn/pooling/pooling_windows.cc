// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/ops/nn/pooling/pooling.h"
#include "ir/program/definition.h"

namespace mxc {

void PoolingAttrs::Describe(Fields& f) {
  f("kernel", kernel).Doc("window, (w,), (h, w) or (d, h, w)");
  f("pool_type", pool_type).OneOf({"max", "avg", "sum", "lp"});
  f("global_pool", global_pool).Doc("whether the window is the whole image");
  f("cudnn_off", cudnn_off).Hint();
  f("pooling_convention", pooling_convention)
      .OneOf({"full", "valid", "same"})
      .Doc("how the number of windows is rounded");
  f("stride", stride).Doc("step of the window; 1 when empty");
  f("pad", pad).Doc("cells on both sides; 0 when empty");
  f("p_value", p_value).Doc("exponent of lp");
  f("count_include_pad", count_include_pad)
      .Doc("whether averages count the padding; None is True");
  f("layout", layout)
      .OneOf({"None", "NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC"})
      .Doc("order of the axes; None is channels first");
}

int64_t PoolingExtent(const PoolingAttrs& a, int d, int64_t extent) {
  if (a.global_pool) return 1;
  const int64_t stride = a.stride.empty() ? 1 : a.stride[d];
  const int64_t pad = a.pad.empty() ? 0 : a.pad[d];
  const bool full = a.pooling_convention == PoolingConvention::kFull;
  const int64_t room = extent + 2 * pad - a.kernel[d];
  return (room + (full ? stride - 1 : 0)) / stride + 1;
}

PoolingWindow WindowOf(const PoolingAttrs& a, const Shape& data,
                       const Shape& output, const std::vector<Expr>& i) {
  const SpatialAxes axes = a.axes(data.rank());
  const Extents stride = OrFill(a.stride, axes.rank, 1);
  const Extents pad = OrFill(a.pad, axes.rank, 0);
  PoolingWindow window;
  window.cells = 1;
  for (int d = 0; d < axes.rank; ++d) {
    const int axis = axes.spatial(d);
    const int64_t extent = data[axis];
    if (a.global_pool) {
      window.begin.push_back(0);
      window.end.push_back(extent);
      window.cells = window.cells * extent;
      continue;
    }
    // Every window lies in the image or in the padded image as a whole where
    // the last one does.
    const int64_t last = (output[axis] - 1) * stride[d] - pad[d];
    const bool padded = pad[d] > 0 || last + a.kernel[d] > extent;
    const bool overhangs = last + a.kernel[d] > extent + pad[d];
    const Expr start = i[axis] * stride[d] - pad[d];
    const Expr stop = start + a.kernel[d];
    window.begin.push_back(padded ? Max(start, 0) : start);
    window.end.push_back(padded ? Min(stop, extent) : stop);
    window.may_be_empty |= last >= extent || a.kernel[d] <= pad[d];
    if (!a.count_include_pad.value_or(true)) {
      window.cells = window.cells * (window.end[d] - window.begin[d]);
    } else {
      window.cells =
          window.cells *
          (overhangs ? Min(stop, extent + pad[d]) - start : Expr(a.kernel[d]));
    }
  }
  return window;
}

PoolingAxis AxisOf(const PoolingAttrs& a, const Shape& data,
                   const Shape& output, int d) {
  const SpatialAxes axes = a.axes(data.rank());
  const int axis = axes.spatial(d);
  if (a.global_pool) return {data[axis], 1, 0, 1};
  return {a.kernel[d], OrFill(a.stride, axes.rank, 1)[d],
          OrFill(a.pad, axes.rank, 0)[d], output[axis]};
}

Expr SumOverWindows(
    const std::vector<PoolingAxis>& axes, const std::vector<Expr>& position,
    const Expr& zero,
    const std::function<Expr(const std::vector<Expr>& window,
                             const std::vector<Expr>& offset)>& term) {
  // The last window that begins before a cell, and so many before it; where it
  // is one there is nothing to sum.
  std::vector<Expr> extents;
  std::vector<int> summed(axes.size(), -1);
  for (size_t d = 0; d < axes.size(); ++d) {
    const PoolingAxis& axis = axes[d];
    const int64_t count =
        std::min(axis.windows, (axis.kernel - 1) / axis.stride + 1);
    if (count == 1) continue;
    summed[d] = static_cast<int>(extents.size());
    extents.push_back(count);
  }
  const auto at = [&](const std::vector<Expr>& back) {
    std::vector<Expr> window, offset;
    Expr inside;
    const auto require = [&](const Expr& condition) {
      if (IsConst(condition, 1)) return;
      inside = inside ? inside && condition : condition;
    };
    for (size_t d = 0; d < axes.size(); ++d) {
      const PoolingAxis& axis = axes[d];
      const Expr cell = position[d] + axis.pad;
      Expr one = Min(cell / axis.stride, axis.windows - 1);
      if (axis.windows == 1) one = 0;
      if (summed[d] >= 0) {
        one = one - back[summed[d]];
        require(one >= 0);
      }
      window.push_back(one);
      offset.push_back(cell - one * axis.stride);
      require(offset[d] < axis.kernel);
    }
    const Expr value = term(window, offset);
    return inside ? Select(inside, value, zero) : value;
  };
  return extents.empty() ? at({}) : Definition::Sum(extents, at);
}

}  // namespace mxc
