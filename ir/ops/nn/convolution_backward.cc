// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/convolution_backward.h"

#include <fmt/format.h>

namespace mxc {

void ConvolutionGeometry::Describe(Fields& f) {
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
  f("layout", layout)
      .OneOf({"None", "NCW", "NCHW", "NCDHW", "NHWC", "NDHWC"})
      .Doc("order of the axes; None is channels first");
}

std::optional<std::string> CheckGeometry(const ConvolutionGeometry& a) {
  if (auto error = CheckWindow(a.kernel, a.stride, a.dilate, a.pad)) {
    return error;
  }
  if (!LayoutFits(a.layout, a.rank())) {
    return fmt::format("C3: layout {} does not fit kernel {}", a.layout,
                       ToString(a.kernel));
  }
  if (a.num_filter % a.num_group != 0) {
    return fmt::format("C4: num_group {} does not divide num_filter {}",
                       a.num_group, a.num_filter);
  }
  return std::nullopt;
}

bool RequireImages(const ConvolutionGeometry& a, TypeInference& t) {
  t.AllSameDType();
  const DType dtype = t.InDType(0);
  if (!t.Require(dtype == DType::kUnknown || IsFloat(dtype),
                 "C5: the inputs have type {}, expected a floating one",
                 ShortName(dtype))) {
    return false;
  }
  for (const int i : {0, 1}) {
    if (!t.In(i).known_rank()) return false;
    if (!t.Require(t.In(i).rank() == a.rank() + 2,
                   "C5: input {} has {} axes, expected {} for kernel {}", i,
                   t.In(i).rank(), a.rank() + 2, ToString(a.kernel))) {
      return false;
    }
  }
  return t.In(0).known() && t.In(1).known();
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
