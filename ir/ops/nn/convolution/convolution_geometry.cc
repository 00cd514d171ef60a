// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/convolution/convolution_geometry.h"

#include <fmt/format.h>

namespace mxc {

void ConvolutionGeometry::Describe(Fields& f) {
  DescribeWindow(f);
  DescribeChannels(f);
  DescribeLayout(f);
}

void ConvolutionGeometry::DescribeWindow(Fields& f, std::string_view stride_doc,
                                         std::string_view pad_doc) {
  f("kernel", kernel).Required().Doc("window, (w,), (h, w) or (d, h, w)");
  f("stride", stride).Doc(stride_doc);
  f("dilate", dilate).Doc("distance of the window's cells; 1 when empty");
  f("pad", pad).Doc(pad_doc);
}

void ConvolutionGeometry::DescribeChannels(Fields& f) {
  f("num_filter", num_filter)
      .Required()
      .Range(1, 1 << 24)
      .Doc("output channels");
  f("num_group", num_group)
      .Range(1, 1 << 24)
      .Doc("groups of channels that do not see one another");
}

void ConvolutionGeometry::DescribeLayout(Fields& f) {
  f("layout", layout)
      .OneOf({"None", "NCW", "NCHW", "NCDHW", "NHWC", "NDHWC"})
      .Doc("order of the axes; None is channels first");
}

ConvolutionGeometry ConvolutionGeometry::Filled() const {
  ConvolutionGeometry filled = *this;
  filled.stride = strides();
  filled.dilate = dilates();
  filled.pad = pads();
  return filled;
}

ConvolutionAttrs ConvolutionOf(const ConvolutionGeometry& geometry) {
  ConvolutionAttrs attrs;
  static_cast<ConvolutionGeometry&>(attrs) = geometry;
  attrs.no_bias = true;
  return attrs;
}

std::optional<std::string> CheckGeometry(const ConvolutionGeometry& a) {
  if (auto error = CheckWindow(a.kernel, a.stride, a.dilate, a.pad)) {
    return error;
  }
  if (!LayoutFits(a.layout, a.rank())) {
    return fmt::format("C3: layout {} does not fit kernel {}", a.layout,
                       ToString(a.kernel));
  }
  return CheckGroups(a);
}

std::optional<std::string> CheckGroups(const ConvolutionGeometry& a) {
  if (a.num_filter % a.num_group == 0) return std::nullopt;
  return fmt::format("C5: num_group {} does not divide num_filter {}",
                     a.num_group, a.num_filter);
}

bool RequireFloating(TypeInference& t, std::string_view label) {
  const DType dtype = t.InDType(0);
  return t.Require(dtype == DType::kUnknown || IsFloat(dtype),
                   "{}: data has type {}, expected a floating one", label,
                   ShortName(dtype));
}

std::optional<int64_t> RequirePositions(const ConvolutionGeometry& a, int d,
                                        int64_t extent, TypeInference& t) {
  const int64_t span = a.dilates()[d] * (a.kernel[d] - 1) + 1;
  const int64_t padded = extent + 2 * a.pads()[d];
  if (!t.Require(span <= padded,
                 "C4: kernel {} with dilate {} exceeds the padded input: "
                 "{} > {}",
                 ToString(a.kernel), ToString(a.dilates()), span, padded)) {
    return std::nullopt;
  }
  return (padded - span) / a.strides()[d] + 1;
}

bool RequireImages(const ConvolutionGeometry& a, TypeInference& t) {
  t.AllSameDType();
  if (!RequireFloating(t, "C8")) return false;
  for (const int i : {0, 1}) {
    if (!t.In(i).known_rank()) return false;
    if (!t.Require(t.In(i).rank() == a.rank() + 2,
                   "C8: input {} has {} axes, expected {} for kernel {}", i,
                   t.In(i).rank(), a.rank() + 2, ToString(a.kernel))) {
      return false;
    }
  }
  return t.In(0).known() && t.In(1).known();
}

void ConvolutionLayer::DescribeLayer(Fields& f) {
  f("workspace", workspace).Hint();
  f("no_bias", no_bias).Doc("whether there is no input bias");
  f("cudnn_tune", cudnn_tune)
      .OneOf({"None", "off", "limited_workspace", "fastest"})
      .Hint();
  f("cudnn_off", cudnn_off).Hint();
  DescribeLayout(f);
}

std::vector<InputSpec> ConvolutionInputs(const ConvolutionLayer& a) {
  std::vector<InputSpec> inputs = {{"data", InputKind::kData},
                                   {"weight", InputKind::kParameter}};
  if (!a.no_bias) inputs.push_back({"bias", InputKind::kParameter});
  return inputs;
}

Value ConvolutionBiasGradient(const ConvolutionLayer& a, GradientBuilder& g) {
  Shape bias(Extents(a.rank() + 2, 1));
  bias[a.axes().channel()] = a.num_filter;
  return g.Reshape(g.SumTo(g.Head(), bias), {a.num_filter});
}

Extents SpatialExtents(const SpatialAxes& axes, const Shape& shape) {
  Extents extents;
  for (int d = 0; d < axes.rank; ++d) extents.push_back(shape[axes.spatial(d)]);
  return extents;
}

Expr Both(const Expr& a, const Expr& b) {
  if (!a || !b) return a ? a : b;
  return a && b;
}

}  // namespace mxc
