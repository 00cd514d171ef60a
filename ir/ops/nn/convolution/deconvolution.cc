// SPDX-License-Identifier: Apache-2.0
// Deconvolution: the transpose of a convolution with the same weight.
//   data    f[N, C, d1 … dk]               k = 1, 2, 3
//   weight  f[C, num_filter / num_group, kernel…]
//   bias    f[num_filter]                  unless no_bias, which is the default
//   output  f[N, num_filter, o1 … ok]
//           o = stride·(d − 1) + dilate·(kernel − 1) + 1 − 2·pad + adj
// Cell w of the kernel carries data[i] to output[i·stride + w·dilate − pad].
// A target_shape sets o; then t = o without pad and adj, less target_shape,
// gives adj = t mod 2 and pad = ⌊(t + 1) / 2⌋ in place of the attributes.
// The gradient: Convolution of data, _convolution_backward_weight of weight, a
// sum of bias. Where the kernel covers most of the output: see
// convolution_columns.h.
// C1  kernel has 1 to 3 entries, all positive
// C2  stride, dilate, pad, adj and target_shape are empty or as long as kernel;
//     stride and dilate are positive, pad and adj are not negative
// C3  layout puts channels first and has as many spatial axes as kernel, and so
//     has data
// C4  adj is below stride
// C5  num_group divides the channels and num_filter
// C6  target_shape is positive and not larger than the output without padding
// C7  the output is not empty
// C8  data is of a floating type
// Source: MXNet 1.9.1 operator/nn/deconvolution.cc.
#include "ir/ops/nn/convolution/deconvolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/nn/convolution/convolution_columns.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

void DeconvolutionAttrs::Describe(Fields& f) {
  DescribeWindow(f, "distance of data's cells in the output",
                 "cells cut off on both sides; 0 when empty");
  f("adj", adj).Doc("cells added at the end; 0 when empty");
  f("target_shape", target_shape).Doc("the output's; sets pad and adj");
  DescribeChannels(f);
  DescribeLayer(f);
}

Placement PlacementOf(const DeconvolutionAttrs& a, int d, int64_t length) {
  const int64_t stride = a.strides()[d];
  const int64_t dilate = a.dilates()[d];
  const int64_t whole = stride * (length - 1) + dilate * (a.kernel[d] - 1) + 1;
  if (a.has_target()) {
    const int64_t surplus = whole - a.target_shape[d];
    return {(surplus + 1) / 2, surplus < 0 ? -1 : a.target_shape[d],
            surplus % 2};
  }
  const int64_t pad = a.pads()[d];
  const int64_t adj = OrFill(a.adj, a.rank(), 0)[d];
  return {pad, whole - 2 * pad + adj, adj};
}

namespace {

std::optional<std::string> DeconvolutionCheck(const DeconvolutionAttrs& a) {
  if (auto error = CheckGeometry(a)) return error;
  for (const Extents& entries : {a.adj, a.target_shape}) {
    if (!entries.empty() && entries.size() != a.kernel.size()) {
      return fmt::format("C2: {} has {} entries, expected {} as in kernel",
                         ToString(entries), entries.size(), a.kernel.size());
    }
  }
  if (IsChannelsLast(a.layout)) {
    return fmt::format("C3: layout {} does not fit kernel {}", a.layout,
                       ToString(a.kernel));
  }
  const Extents stride = a.strides();
  for (size_t d = 0; d < a.adj.size() && !a.has_target(); ++d) {
    if (a.adj[d] < 0 || a.adj[d] >= stride[d]) {
      return fmt::format("C4: adj {} is not below stride {}", ToString(a.adj),
                         ToString(stride));
    }
  }
  if (a.has_target() && std::ranges::min(a.target_shape) <= 0) {
    return fmt::format("C6: target_shape is {}, expected positive entries",
                       ToString(a.target_shape));
  }
  return std::nullopt;
}

void DeconvolutionShapes(const DeconvolutionAttrs& a, TypeInference& t) {
  const Shape& data = t.In(0);
  Shape weight = Shape::OfRank(data.rank()), output = weight;
  weight[0] = data[1];
  weight[1] = a.group_filters();
  output[0] = data[0];
  output[1] = a.num_filter;
  for (int d = 0; d < a.rank(); ++d) {
    weight[2 + d] = a.kernel[d];
    if (!data.known(2 + d)) continue;
    output[2 + d] = PlacementOf(a, d, data[2 + d]).output;
    if (a.has_target() &&
        !t.Require(output[2 + d] > 0,
                   "C6: target_shape {} exceeds the output without padding",
                   ToString(a.target_shape))) {
      return;
    }
    if (!t.Require(output[2 + d] > 0, "C7: pad {} leaves nothing of the output",
                   ToString(a.pad))) {
      return;
    }
  }
  t.SetIn(1, weight);
  t.SetOut(0, output);
}

void DeconvolutionTypes(const DeconvolutionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!RequireFloating(t, "C8")) return;
  if (!a.no_bias) t.SetIn(2, {a.num_filter});
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() == a.rank() + 2,
                 "C3: data has {} axes, expected {} for kernel {}", data.rank(),
                 a.rank() + 2, ToString(a.kernel)) ||
      !t.Require(!data.known(1) || data[1] % a.num_group == 0,
                 "C5: num_group {} does not divide the {} channels of data",
                 a.num_group, data[1])) {
    return;
  }
  DeconvolutionShapes(a, t);
}

// The terms of one spatial axis of an output element: for each r of the range,
// cell `tap` of the kernel meets position `at` of data where `meets` holds.
struct Taps {
  Expr begin, end;
  std::function<Expr(Expr r)> tap, at;
  std::function<Expr(Expr r)> meets;  // empty: everywhere
};

Taps TapsOf(const DeconvolutionAttrs& a, int d, Expr o, int64_t length) {
  const int64_t stride = a.strides()[d];
  const int64_t dilate = a.dilates()[d];
  const int64_t kernel = a.kernel[d];
  const Expr shifted = o + PlacementOf(a, d, length).pad;
  if (dilate == 1) {
    // Only every stride-th cell meets data: shifted = stride·quotient + phase,
    // cell phase + stride·r and position quotient − r.
    const Expr quotient = shifted / stride, phase = shifted % stride;
    return {Max(quotient - (length - 1), 0),
            Min((Expr(kernel + stride - 1) - phase) / stride, quotient + 1),
            [=](Expr r) { return phase + r * stride; },
            [=](Expr r) { return quotient - r; },
            {}};
  }
  const auto rest = [=](Expr r) { return shifted - r * dilate; };
  return {0, kernel, [](Expr r) { return r; },
          [=](Expr r) { return rest(r) / stride; },
          [=](Expr r) {
            return rest(r) >= 0 && rest(r) < length * stride &&
                   rest(r) % stride == 0;
          }};
}

void DeconvolutionMeaning(const DeconvolutionAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t depth = def.InShape(0)[1] / a.num_group;
  const int64_t filters = a.group_filters();
  const Expr group = a.num_group == 1 ? Expr(0) : i[1] / filters;
  const Expr filter = a.num_group == 1 ? i[1] : i[1] % filters;
  std::vector<Taps> taps;
  std::vector<Expr> begin = {0}, end = {depth};
  for (int d = 0; d < a.rank(); ++d) {
    taps.push_back(TapsOf(a, d, i[2 + d], def.InShape(0)[2 + d]));
    begin.push_back(taps.back().begin);
    end.push_back(taps.back().end);
  }
  Expr sum = Definition::ReduceOver(
      ReduceOp::kSum, begin, end, [&](const std::vector<Expr>& r) {
        const Expr channel = group * depth + r[0];
        std::vector<Expr> at = {i[0], channel}, cell = {channel, filter};
        Expr meets;
        for (int d = 0; d < a.rank(); ++d) {
          at.push_back(taps[d].at(r[1 + d]));
          cell.push_back(taps[d].tap(r[1 + d]));
          if (taps[d].meets) meets = Both(meets, taps[d].meets(r[1 + d]));
        }
        const Expr product = def.In(0, at) * def.In(1, cell);
        return meets ? Select(meets, product, def.Lit(0)) : product;
      });
  if (!a.no_bias) sum = sum + def.In(2, {i[1]});
  def.Set(0, sum);
}

Value DeconvolutionDataGradient(const ConvolutionGeometry& geometry,
                                GradientBuilder& g) {
  Value data = g.Op<op::Convolution>({g.Head(), g.In(1)},
                                     ConvolutionOf(geometry), "data");
  // A target_shape may leave room for one more position.
  for (int axis = 2; axis < data.shape().rank(); ++axis) {
    const int64_t extent = g.In(0).shape()[axis];
    if (data.shape()[axis] == extent) continue;
    data = g.SliceAxis(data, axis, 0, extent);
  }
  return data;
}

// The convolution from the output to data.
ConvolutionGeometry TransposedGeometry(const DeconvolutionAttrs& a,
                                       const Shape& data) {
  ConvolutionGeometry transposed = a;
  transposed.num_filter = data[1];
  transposed.pad.clear();
  for (int d = 0; d < a.rank(); ++d) {
    transposed.pad.push_back(PlacementOf(a, d, data[2 + d]).pad);
  }
  return transposed;
}

// Where the kernel covers most of the output.
std::vector<Value> DeconvolutionByColumns(const DeconvolutionAttrs& a,
                                          const Node& node, GraphBuilder& b) {
  const Value& data = node.inputs[0];
  const Shape& output = node.types[0].shape;
  std::vector<Value> parts = TransposedByColumns(
      TransposedGeometry(a, data.shape()), SpatialExtents(a.axes(), output),
      data, node.inputs[1], b);
  if (parts.empty() || a.no_bias) return parts;
  Shape bias(Extents(static_cast<size_t>(output.rank()), 1));
  bias[1] = a.num_filter;
  return {b.Add(parts[0], b.Reshape(node.inputs[2], bias))};
}

std::vector<Value> DeconvolutionGradient(const DeconvolutionAttrs& a,
                                         GradientBuilder& g) {
  const ConvolutionGeometry geometry =
      TransposedGeometry(a, g.In(0).shape()).Filled();
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) gradients[0] = DeconvolutionDataGradient(geometry, g);
  if (g.Needs(1)) {
    gradients[1] = g.Op<op::ConvolutionBackwardWeight>({g.Head(), g.In(0)},
                                                       geometry, "weight");
  }
  if (!a.no_bias && g.Needs(2)) gradients[2] = ConvolutionBiasGradient(a, g);
  return gradients;
}

}  // namespace

MXC_OP(Deconvolution) {
  return Op<DeconvolutionAttrs>("Deconvolution")
      .Doc("the transpose of a convolution")
      .Alias({"_npx_deconvolution"})
      .InputsOf(ConvolutionInputs)
      .Check(DeconvolutionCheck)
      .Types(DeconvolutionTypes)
      .Meaning(DeconvolutionMeaning)
      .AsContraction(DeconvolutionContraction)
      .Decompose(DeconvolutionByColumns)
      .Gradient(DeconvolutionGradient);
}

}  // namespace mxc
