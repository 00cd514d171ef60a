// SPDX-License-Identifier: Apache-2.0
// The positions of a layout: its elements, its border, what fills up its
// blocks; and layouts that have gaps.
#pragma once

#include "ir/program/layout.h"

namespace mxc::test {

// Calls f(offset, index of each dim) for every position, outermost dim first.
template <class F>
void ForEachPosition(const Layout& layout, F f) {
  const Extents strides = layout.strides();
  Extents at(layout.dims.size(), 0);
  for (int64_t left = layout.elements(); left > 0; --left) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
    f(offset, at);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < layout.dims[d].extent) break;
      at[d] = 0;
    }
  }
}

// As a window of a tensor that is larger along all axes.
inline Layout AsWindow(const Layout& layout) {
  Layout window = layout;
  std::vector<bool> seen(layout.halo_low.size(), false);
  for (Layout::Dim& dim : window.dims) {
    const auto axis = static_cast<size_t>(dim.axis);
    if (!seen[axis]) dim.span = dim.extent + 1 + dim.axis;
    seen[axis] = true;
  }
  return window;
}

}  // namespace mxc::test
