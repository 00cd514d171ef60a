// SPDX-License-Identifier: Apache-2.0
#include "ir/program/window_maxima.h"

#include <cmath>

#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

// How many positions of an axis a window has.
int64_t WindowOf(const ContractionStep& body, size_t axis) {
  const Role role = body.contraction.output_axes[axis];
  if (role < Role::kSpatial0) return 1;
  return body
      .maxima[static_cast<size_t>(role) - static_cast<size_t>(Role::kSpatial0)];
}

}  // namespace

std::vector<Element> WindowMaxima(const ContractionStep& body,
                                  std::span<const Element> values,
                                  const Shape& out) {
  const Extents from = OutputDims(body.contraction);
  const Extents& to = out.dims();
  std::vector<Element> maxima(static_cast<size_t>(out.elements()), -INFINITY);
  Extents at(from.size(), 0);
  for (const Element value : values) {
    int64_t place = 0;
    bool inside = true;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t window = WindowOf(body, axis);
      inside = inside && at[axis] / window < to[axis];
      place = place * to[axis] + at[axis] / window;
    }
    if (inside) {
      Element& most = maxima[static_cast<size_t>(place)];
      if (!(value <= most) && !std::isnan(most)) most = value;
    }
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < from[axis]) break;
      at[axis] = 0;
    }
  }
  return maxima;
}

}  // namespace mxc
