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
#include <fmt/format.h>

#include "ir/ops/nn/convolution_backward.h"
#include "ir/ops/nn/spatial.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct ConvolutionAttrs {
  Extents kernel, stride, dilate, pad;
  int64_t num_filter = 0;
  int64_t num_group = 1;
  int64_t workspace = 1024;
  bool no_bias = false;
  bool cudnn_off = false;
  std::string cudnn_tune = "None";
  std::string layout = "None";

  void Describe(Fields& f) {
    f("kernel", kernel).Required().Doc("window, (w,), (h, w) or (d, h, w)");
    f("stride", stride).Doc("step of the window; 1 when empty");
    f("dilate", dilate).Doc("distance of the window's cells; 1 when empty");
    f("pad", pad).Doc("zeros on both sides; 0 when empty");
    f("num_filter", num_filter)
        .Required()
        .Range(1, 1 << 24)
        .Doc("output channels");
    f("num_group", num_group)
        .Range(1, 1 << 24)
        .Doc("groups of channels that do not see one another");
    f("workspace", workspace).Hint();
    f("no_bias", no_bias).Doc("whether there is no input bias");
    f("cudnn_tune", cudnn_tune)
        .OneOf({"None", "off", "limited_workspace", "fastest"})
        .Hint();
    f("cudnn_off", cudnn_off).Hint();
    f("layout", layout)
        .OneOf({"None", "NCW", "NCHW", "NCDHW", "NHWC", "NDHWC"})
        .Doc("order of the axes; None is channels first");
  }

  int rank() const { return static_cast<int>(kernel.size()); }
  SpatialAxes axes() const { return {rank(), IsChannelsLast(layout)}; }
  Extents strides() const { return OrFill(stride, rank(), 1); }
  Extents dilates() const { return OrFill(dilate, rank(), 1); }
  Extents pads() const { return OrFill(pad, rank(), 0); }
};

std::optional<std::string> ConvolutionCheck(const ConvolutionAttrs& a) {
  if (auto error = CheckWindow(a.kernel, a.stride, a.dilate, a.pad)) {
    return error;
  }
  if (!LayoutFits(a.layout, a.rank())) {
    return fmt::format("C3: layout {} does not fit kernel {}", a.layout,
                       ToString(a.kernel));
  }
  if (a.num_filter % a.num_group != 0) {
    return fmt::format("C5: num_group {} does not divide num_filter {}",
                       a.num_group, a.num_filter);
  }
  return std::nullopt;
}

std::vector<InputSpec> ConvolutionInputs(const ConvolutionAttrs& a) {
  std::vector<InputSpec> inputs = {{"data", InputKind::kData},
                                   {"weight", InputKind::kParameter}};
  if (!a.no_bias) inputs.push_back({"bias", InputKind::kParameter});
  return inputs;
}

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
    const int64_t span = dilate[d] * (a.kernel[d] - 1) + 1;
    if (data.known(axis)) {
      const int64_t padded = data[axis] + 2 * pad[d];
      if (!t.Require(span <= padded,
                     "C4: kernel {} with dilate {} exceeds the padded input: "
                     "{} > {}",
                     ToString(a.kernel), ToString(dilate), span, padded)) {
        return;
      }
      output[axis] = (padded - span) / stride[d] + 1;
    } else if (t.Out(0).known_rank() && t.Out(0).rank() > axis &&
               t.Out(0).known(axis) && stride[d] == 1) {
      data[axis] = t.Out(0)[axis] + span - 1 - 2 * pad[d];
      if (data[axis] <= 0) data[axis] = Shape::kUnknownDim;
    }
  }
  t.SetOut(0, output);
  t.SetIn(0, data);
}

void ConvolutionTypes(const ConvolutionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const DType dtype = t.InDType(0);
  if (!t.Require(dtype == DType::kUnknown || IsFloat(dtype),
                 "C6: data has type {}, expected a floating one",
                 ShortName(dtype))) {
    return;
  }
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
  std::vector<Expr> extents = {depth};
  for (const int64_t extent : a.kernel) extents.push_back(extent);

  Expr sum = Definition::Sum(extents, [&](const std::vector<Expr>& r) {
    Expr channel = r[0];
    if (a.num_group > 1) {
      channel = filter / (a.num_filter / a.num_group) * depth + channel;
    }
    std::vector<Expr> position;
    Expr inside;
    for (int d = 0; d < a.rank(); ++d) {
      const int axis = axes.spatial(d);
      const Expr at = i[axis] * stride[d] + r[1 + d] * dilate[d] - pad[d];
      position.push_back(at);
      if (pad[d] == 0) continue;
      const Expr in = at >= 0 && at < def.InShape(0)[axis];
      inside = inside ? inside && in : in;
    }
    const Expr product =
        def.In(0, axes.Index(i[0], channel, position)) *
        def.In(1, axes.Index(filter, r[0], {r.begin() + 1, r.end()}));
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
  c.out = a.num_filter / a.num_group;
  for (int d = 0; d < a.rank(); ++d) {
    c.input.push_back(def.InShape(0)[axes.spatial(d)]);
    c.output.push_back(def.OutShape()[axes.spatial(d)]);
  }
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

std::vector<Value> ConvolutionGradient(const ConvolutionAttrs& a,
                                       GradientBuilder& g) {
  const SpatialAxes axes = a.axes();
  const Value dy = g.Head();
  const std::vector<AttrText> geometry = {
      {"kernel", ToString(a.kernel)},
      {"stride", ToString(a.strides())},
      {"dilate", ToString(a.dilates())},
      {"pad", ToString(a.pads())},
      {"num_filter", std::to_string(a.num_filter)},
      {"num_group", std::to_string(a.num_group)},
      {"layout", a.layout}};
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    std::vector<AttrText> attrs = geometry;
    attrs.emplace_back("extent",
                       ToString(SpatialExtents(axes, g.In(0).shape())));
    gradients[0] =
        g.Op("_convolution_backward_data", {dy, g.In(1)}, attrs, "data");
  }
  if (g.Needs(1)) {
    gradients[1] =
        g.Op("_convolution_backward_weight", {g.In(0), dy}, geometry, "weight");
  }
  if (!a.no_bias && g.Needs(2)) {
    Shape bias(Extents(a.rank() + 2, 1));
    bias[axes.channel()] = a.num_filter;
    gradients[2] = g.Reshape(g.SumTo(dy, bias), {a.num_filter});
  }
  return gradients;
}

}  // namespace

MXC_OP(Convolution) {
  return Op<ConvolutionAttrs>("Convolution")
      .Doc("cross-correlation with num_filter filters, 1 to 3 dimensions")
      .Alias({"Convolution_v1", "_npx_convolution"})
      .InputsOf(ConvolutionInputs)
      .Check(ConvolutionCheck)
      .Types(ConvolutionTypes)
      .Meaning(ConvolutionMeaning)
      .AsContraction(ConvolutionContraction)
      .Gradient(ConvolutionGradient);
}

}  // namespace mxc
