// SPDX-License-Identifier: Apache-2.0
// What the gradients of a convolution share: its attributes, and the places
// where its parts are in the tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/nn/spatial.h"
#include "ir/ops/op.h"

namespace mxc {

// As Convolution's, less what concerns the bias and how it is computed.
struct ConvolutionGeometry {
  Extents kernel, stride, dilate, pad;
  int64_t num_filter = 0;
  int64_t num_group = 1;
  std::string layout = "None";

  void Describe(Fields& f);

  int rank() const { return static_cast<int>(kernel.size()); }
  SpatialAxes axes() const { return {rank(), IsChannelsLast(layout)}; }
  Extents strides() const { return OrFill(stride, rank(), 1); }
  Extents dilates() const { return OrFill(dilate, rank(), 1); }
  Extents pads() const { return OrFill(pad, rank(), 0); }
  int64_t group_filters() const { return num_filter / num_group; }
};

// C1  kernel has 1 to 3 entries, all positive
// C2  stride, dilate and pad are empty or as long as kernel; stride and dilate
//     are positive, pad is not negative
// C3  layout has as many spatial axes as kernel
// C4  num_group divides num_filter
std::optional<std::string> CheckGeometry(const ConvolutionGeometry& a);

// C5  inputs are of one floating type and have rank + 2 axes
// False where they do not, or where not all of their axes are known yet.
bool RequireImages(const ConvolutionGeometry& a, TypeInference& t);

// The extents of the spatial axes.
Extents SpatialExtents(const SpatialAxes& axes, const Shape& shape);

// `a && b`, where either may be empty: true.
Expr Both(const Expr& a, const Expr& b);

}  // namespace mxc
