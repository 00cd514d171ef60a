// SPDX-License-Identifier: Apache-2.0
// Convolution: cross-correlation of each group of channels with its filters.
//   data    f[N, C, d1 … dk]                k = 1, 2, 3
//   weight  f[num_filter, C / num_group, kernel…]
//   bias    f[num_filter]                   unless no_bias
//   output  f[N, num_filter, o1 … ok]
//           o = ⌊(d + 2·pad − (dilate·(kernel − 1) + 1)) / stride⌋ + 1
// Channels come last in data, weight and output when `layout` says so.
// The gradient of data: _convolution_backward_data; that of weight:
// _convolution_backward_weight; that of bias: a sum.
// C1  kernel has 1 to 3 entries, all positive
// C2  stride, dilate and pad are empty or as long as kernel; stride and dilate
//     are positive, pad is not negative
// C3  layout has as many spatial axes as kernel, and so has data
// C4  the dilated kernel does not exceed the padded input
// C5  num_group divides the channels and num_filter
// C6  data is of a floating type
// Source: MXNet 1.9.1 operator/nn/convolution.cc.
#include "ir/ops/nn/convolution/convolution_backward_data.h"
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

void ConvolutionParameterTypes(const ConvolutionAttrs& a, int64_t channels,
                               TypeInference& t) {
  const SpatialAxes axes = a.axes();
  Shape weight = Shape::OfRank(a.rank() + 2);
  weight[0] = a.num_filter;
  if (channels != Shape::kUnknownDim) {
    weight[axes.channel()] = channels / a.num_group;
  }
  for (int d = 0; d < a.rank(); ++d) weight[axes.spatial(d)] = a.kernel[d];
  t.SetIn(1, weight);
  if (!a.no_bias) t.SetIn(2, {a.num_filter});
}

// The output's extents from data's and, at stride 1, the reverse.
void ConvolutionSpatialTypes(const ConvolutionAttrs& a, Shape data,
                             Shape output, TypeInference& t) {
  const Extents stride = a.strides(), dilate = a.dilates(), pad = a.pads();
  for (int d = 0; d < a.rank(); ++d) {
    const int axis = a.axes().spatial(d);
    if (data.known(axis)) {
      const auto positions = RequirePositions(a, d, data[axis], t);
      if (!positions) return;
      output[axis] = *positions;
    } else if (t.Out(0).known_rank() && t.Out(0).rank() > axis &&
               t.Out(0).known(axis) && stride[d] == 1) {
      data[axis] = t.Out(0)[axis] + dilate[d] * (a.kernel[d] - 1) - 2 * pad[d];
      if (data[axis] <= 0) data[axis] = Shape::kUnknownDim;
    }
  }
  t.SetOut(0, output);
  t.SetIn(0, data);
}

}  // namespace

void ConvolutionShapes(const ConvolutionAttrs& a, TypeInference& t) {
  const SpatialAxes axes = a.axes();
  Shape data = t.In(0), output = t.Out(0);
  if (!data.known_rank()) data = Shape::OfRank(a.rank() + 2);
  if (!output.known_rank()) output = Shape::OfRank(a.rank() + 2);
  if (!t.Require(data.rank() == a.rank() + 2,
                 "C3: data has {} axes, expected {} for kernel {}", data.rank(),
                 a.rank() + 2, ToString(a.kernel)) ||
      !t.Require(output.rank() == a.rank() + 2,
                 "C3: the output has {} axes, expected {} for kernel {}",
                 output.rank(), a.rank() + 2, ToString(a.kernel))) {
    return;
  }
  const int64_t channels = data[axes.channel()];
  if (!t.Require(channels == Shape::kUnknownDim || channels % a.num_group == 0,
                 "C5: num_group {} does not divide the {} channels of data",
                 a.num_group, channels)) {
    return;
  }
  ConvolutionParameterTypes(a, channels, t);
  if (data.known(0)) output[0] = data[0];
  if (output.known(0)) data[0] = output[0];
  output[axes.channel()] = a.num_filter;
  ConvolutionSpatialTypes(a, data, output, t);
}

void ConvolutionMeaning(const ConvolutionAttrs& a, Definition& def) {
  const SpatialAxes axes = a.axes();
  const Extents stride = a.strides(), dilate = a.dilates(), pad = a.pads();
  const std::vector<Expr> i = def.Indices();
  const Expr filter = i[axes.channel()];
  const int64_t depth = def.InShape(1)[axes.channel()];
  const auto wide = [&](const Expr& x) { return Cast(x, def.OutDType()); };
  std::vector<Expr> extents = {depth};
  for (const int64_t extent : a.kernel) extents.push_back(extent);

  Expr sum = Definition::Sum(extents, [&](const std::vector<Expr>& r) {
    Expr channel = r[0];
    if (a.num_group > 1) {
      channel = filter / a.group_filters() * depth + channel;
    }
    std::vector<Expr> position;
    Expr inside;
    for (int d = 0; d < a.rank(); ++d) {
      const int axis = axes.spatial(d);
      const Expr at = i[axis] * stride[d] + r[1 + d] * dilate[d] - pad[d];
      position.push_back(at);
      if (pad[d] == 0) continue;
      inside = Both(inside, at >= 0 && at < def.InShape(0)[axis]);
    }
    const Expr product =
        wide(def.In(0, axes.Index(i[0], channel, position))) *
        wide(def.In(1, axes.Index(filter, r[0], {r.begin() + 1, r.end()})));
    return inside ? Select(inside, product, def.Lit(0)) : product;
  });
  if (!a.no_bias) sum = sum + def.In(2, {filter});
  def.Set(0, sum);
}

std::optional<Contraction> ConvolutionContraction(const ConvolutionAttrs& a,
                                                  const Definition& def) {
  const SpatialAxes axes = a.axes();
  Contraction c;
  c.batch = def.OutShape()[0];
  c.groups = a.num_group;
  c.in = def.InShape(1)[axes.channel()];
  c.out = a.group_filters();
  c.input = SpatialExtents(axes, def.InShape(0));
  c.output = SpatialExtents(axes, def.OutShape());
  c.kernel = a.kernel;
  c.stride = a.strides();
  c.dilate = a.dilates();
  c.pad = a.pads();
  c.data_dilate = Extents(a.rank(), 1);
  c.data_axes = axes.Roles(Role::kBatch, Role::kGroupIn);
  c.weight_axes = axes.Roles(Role::kGroupOut, Role::kIn);
  c.output_axes = axes.Roles(Role::kBatch, Role::kGroupOut);
  return c;
}

namespace {

void ConvolutionTypes(const ConvolutionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (RequireFloating(t, "C6")) ConvolutionShapes(a, t);
}

std::vector<Value> ConvolutionGradient(const ConvolutionAttrs& a,
                                       GradientBuilder& g) {
  const ConvolutionGeometry geometry = a.Filled();
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    gradients[0] = g.Op<op::ConvolutionBackwardData>(
        {g.Head(), g.In(1)},
        {geometry, SpatialExtents(a.axes(), g.In(0).shape())}, "data");
  }
  if (g.Needs(1)) {
    gradients[1] = g.Op<op::ConvolutionBackwardWeight>({g.In(0), g.Head()},
                                                       geometry, "weight");
  }
  if (!a.no_bias && g.Needs(2)) gradients[2] = ConvolutionBiasGradient(a, g);
  return gradients;
}

}  // namespace

MXC_OP(Convolution) {
  return Op<ConvolutionAttrs>("Convolution")
      .Doc("cross-correlation with num_filter filters, 1 to 3 dimensions")
      .Alias({"Convolution_v1", "_npx_convolution"})
      .InputsOf(ConvolutionInputs)
      .Check(CheckGeometry)
      .Types(ConvolutionTypes)
      .Meaning(ConvolutionMeaning)
      .AsContraction(ConvolutionContraction)
      .Gradient(ConvolutionGradient);
}

}  // namespace mxc
