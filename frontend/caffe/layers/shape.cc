// SPDX-License-Identifier: Apache-2.0
// Layers that join, cut and turn blobs, and reduce them. Source: *_layer.cpp of
// BVLC/caffe.
#include <algorithm>

#include "frontend/caffe/layers.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/shape/tile.h"
#include "ir/ops/tensor/shape/transpose.h"
#include "ir/ops/tensor/sort/topk.h"

namespace mxc::caffe {
namespace {

template <class Id>
Value Pairwise(Layer& layer) {
  Value y = layer.Bottom();
  for (int i = 1; i < layer.bottoms(); ++i) {
    y = layer.Op<Id>({y, layer.Bottom(i)});
  }
  return y;
}

// Σ coeff · bottom
Value WeightedSum(Layer& layer, const std::vector<float>& coeff) {
  Value y;
  for (int i = 0; i < layer.bottoms(); ++i) {
    Value x = layer.Bottom(i);
    const float factor = coeff.empty() ? 1 : coeff[static_cast<size_t>(i)];
    const bool subtract = i > 0 && factor == -1;
    if (factor != 1 && !subtract) {
      x = layer.Scalar<op::MulScalar>(x, factor);
    }
    y = i == 0     ? x
        : subtract ? layer.Op<op::ElemwiseSub>({y, x})
                   : layer.Op<op::ElemwiseAdd>({y, x});
  }
  return y;
}

// Where the parts of a Slice begin, and where the last one ends.
std::vector<int64_t> SlicePoints(Layer& layer, const SliceParameter& p,
                                 int64_t size) {
  std::vector<int64_t> points = {0};
  const int tops = layer.tops();
  if (p.slice_point.empty()) {
    if (tops == 0 || size % tops != 0) {
      layer.Fail("{} elements in {} equal parts", size, tops);
    }
    for (int i = 1; i <= tops; ++i) points.push_back(size / tops * i);
    return points;
  }
  if (static_cast<int>(p.slice_point.size()) != tops - 1) {
    layer.Fail("{} points for {} tops, expected one less", p.slice_point.size(),
               tops);
  }
  for (const uint32_t point : p.slice_point) points.push_back(point);
  points.push_back(size);
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i] <= points[i - 1]) {
      layer.Fail("slice_point {} behind {}, expected points that rise below {}",
                 points[i], points[i - 1], size);
    }
  }
  return points;
}

// The first of equal elements, where Caffe has the last.
std::vector<Value> LargestOf(Layer& layer, Value x, int axis, uint32_t k) {
  return layer.Ops<op::Topk>(
      {x}, {.axis = axis, .k = k, .ret_typ = TopkReturn::kBoth});
}

}  // namespace

void ImportSplit(Layer& layer) {
  layer.Expect(1, 1, -1);
  for (int i = 0; i < layer.tops(); ++i) layer.SetTop(i, layer.Bottom());
}

void ImportConcat(Layer& layer) {
  layer.Expect(1, -1);
  const ConcatParameter& p = OrDefault(layer.param().concat_param);
  const int64_t written = p.concat_dim ? *p.concat_dim : p.axis;
  const int axis = layer.Axis(written, layer.RankOf(layer.Bottom()));
  std::vector<Value> parts;
  for (int i = 0; i < layer.bottoms(); ++i) parts.push_back(layer.Bottom(i));
  layer.SetTop(0, layer.Concat(parts, axis));
}

void ImportSlice(Layer& layer) {
  layer.Expect(1, 1, -1);
  const SliceParameter& p = OrDefault(layer.param().slice_param);
  const Value x = layer.Bottom();
  const int64_t written = p.slice_dim ? *p.slice_dim : p.axis;
  const int axis = layer.Axis(written, layer.RankOf(x));
  const auto points = SlicePoints(layer, p, layer.Extent(x, axis));
  for (int i = 0; i < layer.tops(); ++i) {
    const auto at = static_cast<size_t>(i);
    layer.SetTop(i, layer.Slice(x, axis, points[at], points[at + 1]));
  }
}

void ImportEltwise(Layer& layer) {
  layer.Expect(2, -1);
  const EltwiseParameter& p = OrDefault(layer.param().eltwise_param);
  if (!p.coeff.empty() && static_cast<int>(p.coeff.size()) != layer.bottoms()) {
    layer.Fail("{} coeff for {} bottoms", p.coeff.size(), layer.bottoms());
  }
  switch (p.operation) {
    case EltwiseOp::kPROD:
      if (!p.coeff.empty()) layer.Fail("coeff of a product");
      return layer.SetTop(0, Pairwise<op::ElemwiseMul>(layer));
    case EltwiseOp::kMAX:
      return layer.SetTop(0, Pairwise<op::ElemwiseMaximum>(layer));
    case EltwiseOp::kSUM:
      return layer.SetTop(0, WeightedSum(layer, p.coeff));
  }
}

// bottom 0, a factor for each channel, times bottom 1, plus bottom 2.
void ImportAxpy(Layer& layer) {
  layer.Expect(3, 3);
  Value factor = layer.Bottom(0);
  if (layer.RankOf(factor) == 2) factor = layer.Reshape(factor, {0, 0, 1, 1});
  const Value product = layer.Op<op::BroadcastMul>({layer.Bottom(1), factor});
  layer.SetTop(0, layer.Op<op::ElemwiseAdd>({product, layer.Bottom(2)}));
}

void ImportFlatten(Layer& layer) {
  layer.Expect(1, 1);
  const FlattenParameter& p = OrDefault(layer.param().flatten_param);
  const Value x = layer.Bottom();
  const int rank = layer.RankOf(x);
  const int first = layer.Axis(p.axis, rank);
  const int last = layer.Axis(p.end_axis, rank);
  if (first > last) layer.Fail("axis {} behind end_axis {}", first, last);
  Extents codes(static_cast<size_t>(first), 0);
  codes.push_back(-1);
  for (int i = last + 1; i < rank; ++i) codes.push_back(layer.Extent(x, i));
  layer.SetTop(0, layer.Reshape(x, codes));
}

// Axes from `axis` on, `num_axes` of them, become those of `shape`, in which 0
// keeps an extent and -1 is what is left.
void ImportReshape(Layer& layer) {
  layer.Expect(1, 1);
  const ReshapeParameter& p = OrDefault(layer.param().reshape_param);
  const Value x = layer.Bottom();
  const int rank = layer.RankOf(x);
  const int begin = layer.Axis(p.axis < 0 ? p.axis + 1 : p.axis, rank, true);
  const int axis = p.axis < 0 ? begin + (p.axis == -1 ? rank : 0) : begin;
  const int end = p.num_axes < 0 ? rank : axis + p.num_axes;
  if (p.num_axes < -1 || axis > rank || end > rank) {
    layer.Fail("num_axes {} from axis {} of a bottom with {} axes", p.num_axes,
               axis, rank);
  }
  const auto& shape = OrDefault(p.shape).dim;
  Extents codes(static_cast<size_t>(axis), 0);
  int open = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int from = axis + static_cast<int>(i);
    if (shape[i] < -1 || (shape[i] == 0 && from >= rank)) {
      layer.Fail("extent {} of axis {} cannot be", shape[i], from);
    }
    open += shape[i] == -1 ? 1 : 0;
    codes.push_back(shape[i]);
  }
  if (open > 1) layer.Fail("{} extents of -1, expected one at most", open);
  const bool aligned = end - axis == static_cast<int>(shape.size());
  for (int i = end; i < rank; ++i) {
    codes.push_back(aligned ? 0 : layer.Extent(x, i));
  }
  if (codes.empty()) codes.push_back(1);
  const Value y = layer.Reshape(x, codes);
  if (x.shape().known() && y.shape().known() &&
      x.shape().elements() != y.shape().elements()) {
    layer.Fail("a bottom of shape {} cannot have the shape {}",
               ToString(x.shape()), ToString(y.shape()));
  }
  layer.SetTop(0, y);
}

// The axes that `order` lacks stand behind those that it has.
void ImportPermute(Layer& layer) {
  layer.Expect(1, 1);
  const auto& order = OrDefault(layer.param().permute_param).order;
  const int rank = layer.RankOf(layer.Bottom());
  std::vector<int64_t> axes;
  for (const uint32_t axis : order) {
    if (axis >= static_cast<uint32_t>(rank) ||
        std::ranges::count(axes, axis) > 0) {
      layer.Fail("order names axis {} of {} twice, or there is none", axis,
                 rank);
    }
    axes.push_back(axis);
  }
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::count(axes, axis) == 0) axes.push_back(axis);
  }
  layer.SetTop(0, layer.Op<op::Transpose>({layer.Bottom()}, {.axes = axes}));
}

// (N, group · rest, …) as (N, rest · group, …).
void ImportShuffleChannel(Layer& layer) {
  layer.Expect(1, 1);
  const int64_t group = OrDefault(layer.param().shuffle_channel_param).group;
  const Value x = layer.Bottom();
  const int rank = layer.RankOf(x);
  const int64_t channels = layer.Extent(x, 1);
  if (group == 0 || channels % group != 0) {
    layer.Fail("{} channels in {} groups", channels, group);
  }
  Extents apart = {0, group, channels / group, -1}, whole = {0, channels};
  for (int i = 2; i < rank; ++i) whole.push_back(layer.Extent(x, i));
  const Value turned = layer.Op<op::Transpose>({layer.Reshape(x, apart)},
                                               {.axes = {0, 2, 1, 3}});
  layer.SetTop(0, layer.Reshape(turned, whole));
}

void ImportTile(Layer& layer) {
  layer.Expect(1, 1);
  const TileParameter& p = OrDefault(layer.param().tile_param);
  const int rank = layer.RankOf(layer.Bottom());
  if (p.tiles <= 0) layer.Fail("tiles {}, expected at least 1", p.tiles);
  std::vector<int64_t> times(static_cast<size_t>(rank), 1);
  times[static_cast<size_t>(layer.Axis(p.axis, rank))] = p.tiles;
  layer.SetTop(0, layer.Op<op::Tile>({layer.Bottom()}, {.reps = times}));
}

// Where the second bottom is large, from the offsets on.
void ImportCrop(Layer& layer) {
  layer.Expect(2, 2);
  const CropParameter& p = OrDefault(layer.param().crop_param);
  Value x = layer.Bottom();
  const int rank = layer.RankOf(x);
  const int axis = layer.Axis(p.axis, rank);
  const auto cropped = static_cast<size_t>(rank - axis);
  if (p.offset.size() > 1 && p.offset.size() != cropped) {
    layer.Fail("{} offsets for {} axes", p.offset.size(), cropped);
  }
  for (int i = axis; i < rank; ++i) {
    const auto at = static_cast<size_t>(i - axis);
    const int64_t offset = p.offset.empty()       ? 0
                           : p.offset.size() == 1 ? p.offset[0]
                                                  : p.offset[at];
    const int64_t wanted = layer.Extent(layer.Bottom(1), i);
    if (offset + wanted > layer.Extent(x, i)) {
      layer.Fail("{} elements from {} on, of {} along axis {}", wanted, offset,
                 layer.Extent(x, i), i);
    }
    x = layer.Slice(x, i, offset, offset + wanted);
  }
  layer.SetTop(0, x);
}

// The samples that the second bottom numbers.
void ImportBatchReindex(Layer& layer) {
  layer.Expect(2, 2);
  layer.SetTop(
      0, layer.Op<op::Take>({layer.Bottom(0), layer.Bottom(1)}, {.axis = 0}));
}

// Over the axes from `axis` on.
void ImportReduction(Layer& layer) {
  layer.Expect(1, 1);
  const ReductionParameter& p = OrDefault(layer.param().reduction_param);
  Value x = layer.Bottom();
  const int axis = layer.Axis(p.axis, layer.RankOf(x));
  double coeff = p.coeff;
  if (p.operation == ReductionOp::kASUM) x = layer.Op<op::Abs>({x});
  if (p.operation == ReductionOp::kSUMSQ) x = layer.Op<op::Square>({x});
  if (p.operation == ReductionOp::kMEAN) {
    const Extents& dims = layer.ShapeOf(x).dims();
    coeff /= static_cast<double>(
        Shape(Extents(dims.begin() + axis, dims.end())).elements());
  }
  x = layer.SumFrom(x, axis);
  if (coeff != 1) x = layer.Scalar<op::MulScalar>(x, coeff);
  layer.SetTop(0, x);
}

// Of all elements of a sample, (N, 1 or 2, k, 1…); or along an axis.
void ImportArgMax(Layer& layer) {
  layer.Expect(1, 1);
  const ArgMaxParameter& p = OrDefault(layer.param().argmax_param);
  const Value x = layer.Bottom();
  if (p.top_k == 0) layer.Fail("top_k 0");
  if (p.axis) {
    const int axis = layer.Axis(*p.axis, layer.RankOf(x));
    const auto found = LargestOf(layer, x, axis, p.top_k);
    layer.SetTop(0, found[p.out_max_val ? 0 : 1]);
    return;
  }
  const auto found = LargestOf(layer, layer.Reshape(x, {0, -1}), 1, p.top_k);
  Extents shape = {0, 1, -1};  // as many axes as the bottom, three at least
  shape.resize(std::max(shape.size(), static_cast<size_t>(layer.RankOf(x))), 1);
  const Value places = layer.Reshape(found[1], shape);
  if (!p.out_max_val) return layer.SetTop(0, places);
  layer.SetTop(0, layer.Concat({places, layer.Reshape(found[0], shape)}, 1));
}

}  // namespace mxc::caffe
