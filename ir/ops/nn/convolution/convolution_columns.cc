// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/convolution/convolution_columns.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/ops/nn/convolution/convolution_backward_data.h"
#include "ir/ops/nn/convolution/fold_windows.h"
#include "ir/ops/tensor/shape/transpose.h"

namespace mxc {
namespace {

// Products of the plain sum for each of the convolution's, at most.
constexpr double kMostWaste = 2.5;

int64_t ColumnsProduct(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1},
                         std::multiplies<>());
}

class TransposedConvolution {
 public:
  TransposedConvolution(const ConvolutionGeometry& a, const Extents& extent,
                        const Value& gradient, const Value& weight,
                        GraphBuilder& b)
      : a_(a),
        extent_(extent),
        gradient_(gradient),
        weight_(weight),
        b_(b),
        last_(a.axes().channels_last),
        positions_(SpatialExtents(a.axes(), gradient.shape())),
        batch_(gradient.shape()[0]),
        channels_(weight.shape()[a.axes().channel()]) {}

  std::vector<Value> Build() {
    std::vector<int> narrow, wide;
    for (int d = 0; d < a_.rank(); ++d) {
      (positions_[d] == 1 && Waste(d) > 1 ? narrow : wide).push_back(d);
    }
    if (Waste(narrow) * Waste(wide) <= kMostWaste) return {};
    const bool plain =
        std::ranges::any_of(wide, [&](int d) { return positions_[d] > 1; });
    if (plain && !last_ && Waste(wide) <= kMostWaste) {
      return {ByTapsAsChannels(narrow, wide)};
    }
    return {ByProducts()};
  }

 private:
  double Waste(int d) const {
    return static_cast<double>(extent_[d]) /
           static_cast<double>(positions_[d] * a_.strides()[d]);
  }
  double Waste(const std::vector<int>& axes) const {
    double waste = 1;
    for (const int d : axes) waste *= Waste(d);
    return waste;
  }

  static Extents Of(const Extents& all, const std::vector<int>& axes) {
    Extents some;
    for (const int d : axes) some.push_back(all[d]);
    return some;
  }

  Value Transpose(const Value& x, const Extents& axes) {
    if (std::ranges::is_sorted(axes)) return x;
    return b_.Op<op::Transpose>({x}, {.axes = axes}, "order");
  }

  // windows f[N, ∏ positions, C, ∏ kernel, R] → f[N, C, extent…, R], of the
  // given axes.
  Value Fold(const Value& windows, const std::vector<int>& axes) {
    const Extents kernel = Of(a_.kernel, axes), pad = Of(a_.pads(), axes);
    const Extents count = Of(positions_, axes), extent = Of(extent_, axes);
    const Extents dilate = Of(a_.dilates(), axes);
    const bool whole =
        ColumnsProduct(count) == 1 && kernel == extent &&
        std::ranges::max(pad) == 0 &&
        (ColumnsProduct(kernel) == 1 || std::ranges::max(dilate) == 1);
    Extents dims = {batch_, windows.shape()[2]};
    dims.insert(dims.end(), extent.begin(), extent.end());
    dims.push_back(windows.shape()[4]);
    if (whole) return b_.Reshape(windows, Shape(dims));
    return b_.Op<op::FoldWindows>({windows},
                                  {.kernel = kernel,
                                   .stride = Of(a_.strides(), axes),
                                   .dilate = dilate,
                                   .pad = pad,
                                   .count = count,
                                   .extent = extent},
                                  "fold");
  }

  // Channels first: a convolution's transpose along the wide axes.
  Value ByTapsAsChannels(const std::vector<int>& narrow,
                         const std::vector<int>& wide) {
    const int64_t taps = ColumnsProduct(Of(a_.kernel, narrow));
    Extents order = {0, 1};
    for (const int d : narrow) order.push_back(2 + d);
    for (const int d : wide) order.push_back(2 + d);
    Extents filters = {a_.num_filter, channels_ * taps};
    Extents heads = {batch_, a_.num_filter};
    for (const int d : wide) {
      filters.push_back(a_.kernel[d]);
      heads.push_back(positions_[d]);
    }
    ConvolutionGeometry rest;
    rest.kernel = Of(a_.kernel, wide);
    rest.stride = Of(a_.strides(), wide);
    rest.dilate = Of(a_.dilates(), wide);
    rest.pad = Of(a_.pads(), wide);
    rest.num_filter = a_.num_filter;
    rest.num_group = a_.num_group;
    const Value columns = b_.Op<op::ConvolutionBackwardData>(
        {b_.Reshape(gradient_, Shape(heads)),
         b_.Reshape(Transpose(weight_, order), Shape(filters))},
        {rest, Of(extent_, wide)}, "columns");
    const int64_t all = channels_ * a_.num_group;
    const int64_t cells = ColumnsProduct(Of(extent_, wide));
    const Value folded =
        Fold(b_.Reshape(columns, Shape{batch_, 1, all, taps, cells}), narrow);
    return InOrder(folded, narrow, wide);
  }

  // f[N, C, narrow…, ∏ wide] → f[N, C, extent…]
  Value InOrder(const Value& folded, const std::vector<int>& narrow,
                const std::vector<int>& wide) {
    Extents dims = {batch_, folded.shape()[1]}, back = {0, 1};
    back.resize(2 + extent_.size());
    for (const std::vector<int>& axes : {narrow, wide}) {
      for (const int d : axes) {
        back[2 + d] = static_cast<int64_t>(dims.size());
        dims.push_back(extent_[d]);
      }
    }
    return Transpose(b_.Reshape(folded, Shape(dims)), back);
  }

  // The products of every position's gradients with all taps: f[N · ∏ o, G,
  // C · ∏ kernel], or f[…, G, ∏ kernel · C] where channels come last.
  Value Products() {
    const int64_t groups = a_.num_group, filters = a_.group_filters();
    const int64_t count = ColumnsProduct(positions_), rows = batch_ * count;
    const int64_t width = channels_ * ColumnsProduct(a_.kernel);
    Value heads = gradient_;
    if (!last_) {
      heads = b_.Reshape(heads, {batch_, a_.num_filter, count});
      if (count > 1) heads = Transpose(heads, {0, 2, 1});
    }
    if (groups == 1) {
      const Value product =
          b_.Op<op::Dot>({b_.Reshape(heads, {rows, filters}),
                          b_.Reshape(weight_, {filters, width})},
                         "columns");
      return b_.Reshape(product, {rows, 1, width});
    }
    heads = b_.Reshape(heads, {rows, groups, filters});
    if (filters == 1) {
      return b_.Mul(heads, b_.Reshape(weight_, {1, groups, width}));
    }
    const Value product =
        b_.Op<op::BatchDot>({Transpose(heads, {1, 0, 2}),
                             b_.Reshape(weight_, {groups, filters, width})},
                            "columns");
    return Transpose(product, {1, 0, 2});
  }

  Value ByProducts() {
    const int64_t groups = a_.num_group;
    const int64_t count = ColumnsProduct(positions_);
    const int64_t taps = ColumnsProduct(a_.kernel);
    std::vector<int> all(a_.kernel.size());
    std::iota(all.begin(), all.end(), 0);
    const Shape windows =
        last_ ? Shape{batch_, count, groups, taps, channels_}
              : Shape{batch_, count, groups * channels_, taps, 1};
    const Value folded = Fold(b_.Reshape(Products(), windows), all);
    Extents dims = {batch_};
    dims.insert(dims.end(), extent_.begin(), extent_.end());
    dims.insert(last_ ? dims.end() : dims.begin() + 1, groups * channels_);
    if (!last_ || groups == 1) return b_.Reshape(folded, Shape(dims));
    Extents order = {0};  // f[N, G, extent…, C]
    for (int d = 0; d < a_.rank(); ++d) order.push_back(2 + d);
    order.push_back(1);
    order.push_back(2 + a_.rank());
    return b_.Reshape(Transpose(folded, order), Shape(dims));
  }

  const ConvolutionGeometry& a_;
  const Extents& extent_;
  const Value gradient_, weight_;
  GraphBuilder& b_;
  const bool last_;
  const Extents positions_;
  const int64_t batch_, channels_;  // channels of data in a group
};

}  // namespace

std::vector<Value> TransposedByColumns(const ConvolutionGeometry& a,
                                       const Extents& extent,
                                       const Value& gradient,
                                       const Value& weight, GraphBuilder& b) {
  return TransposedConvolution(a, extent, gradient, weight, b).Build();
}

}  // namespace mxc
