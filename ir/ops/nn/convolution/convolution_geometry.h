// SPDX-License-Identifier: Apache-2.0
// What convolutions, their transposes and their gradients share: attributes,
// the rules on them, and the places where their parts are in the tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/op.h"

namespace mxc {

struct ConvolutionGeometry {
  Extents kernel = {}, stride = {}, dilate = {}, pad = {};
  int64_t num_filter = 0;
  int64_t num_group = 1;
  std::string layout = "None";

  void Describe(Fields& f);
  // Its parts, for operators with attributes of their own between them.
  void DescribeWindow(
      Fields& f,
      std::string_view stride_doc = "step of the window; 1 when empty",
      std::string_view pad_doc = "zeros on both sides; 0 when empty");
  void DescribeChannels(Fields& f);
  void DescribeLayout(Fields& f);
  // The same with lists filled up.
  ConvolutionGeometry Filled() const;

  int rank() const { return static_cast<int>(kernel.size()); }
  SpatialAxes axes() const { return {rank(), IsChannelsLast(layout)}; }
  Extents strides() const { return OrFill(stride, rank(), 1); }
  Extents dilates() const { return OrFill(dilate, rank(), 1); }
  Extents pads() const { return OrFill(pad, rank(), 0); }
  int64_t group_filters() const { return num_filter / num_group; }
};

MXC_ATTRS(ConvolutionBackwardWeight, ConvolutionGeometry);

// C1  kernel has 1 to 3 entries, all positive
// C2  stride, dilate and pad are empty or as long as kernel; stride and dilate
//     are positive, pad is not negative
// C3  layout has as many spatial axes as kernel
// C5  num_group divides num_filter
std::optional<std::string> CheckGeometry(const ConvolutionGeometry& a);
// C5 alone.
std::optional<std::string> CheckGroups(const ConvolutionGeometry& a);

// Of the first input; reports a violation as `label`.
bool RequireFloating(TypeInference& t, std::string_view label);

// C4  the dilated kernel does not exceed the padded input
// In how many places the window lies along spatial axis `d` of data of that
// extent; nullopt, and a report, where in none.
std::optional<int64_t> RequirePositions(const ConvolutionGeometry& a, int d,
                                        int64_t extent, TypeInference& t);

// C8  the inputs are of one floating type and have rank + 2 axes
// For the gradients; false where they do not, or where not all of their axes
// are known yet.
bool RequireImages(const ConvolutionGeometry& a, TypeInference& t);

// What Convolution and Deconvolution have besides.
struct ConvolutionLayer : ConvolutionGeometry {
  int64_t workspace = 1024;
  bool no_bias = false;
  bool cudnn_off = false;
  std::string cudnn_tune = "None";

  void DescribeLayer(Fields& f);  // with the layout
};

// Convolution's.
struct ConvolutionAttrs : ConvolutionLayer {
  void Describe(Fields& f) {
    DescribeWindow(f);
    DescribeChannels(f);
    DescribeLayer(f);
  }
};
MXC_ATTRS(Convolution, ConvolutionAttrs);
// Of that geometry, without a bias.
ConvolutionAttrs ConvolutionOf(const ConvolutionGeometry& geometry);

// data, weight and, unless no_bias, bias.
std::vector<InputSpec> ConvolutionInputs(const ConvolutionLayer& a);
// Of a Convolution, whatever its element types are: C3 to C5; products of
// elements as the output's type has them, and their sums; the same as a step.
void ConvolutionShapes(const ConvolutionAttrs& a, TypeInference& t);
void ConvolutionMeaning(const ConvolutionAttrs& a, Definition& def);
std::optional<Contraction> ConvolutionContraction(const ConvolutionAttrs& a,
                                                  const Definition& def);
// The output's gradient summed over all axes but the channels.
Value ConvolutionBiasGradient(const ConvolutionLayer& a, GradientBuilder& g);

// The extents of the spatial axes.
Extents SpatialExtents(const SpatialAxes& axes, const Shape& shape);

// `a && b`, where either may be empty: true.
Expr Both(const Expr& a, const Expr& b);

}  // namespace mxc
