// SPDX-License-Identifier: Apache-2.0
#include "ir/program/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace mxc {

Layout Layout::RowMajor(const Shape& shape) {
  Layout layout;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    layout.dims.push_back({axis, shape[axis]});
  }
  layout.halo_low.assign(shape.rank(), 0);
  layout.halo_high.assign(shape.rank(), 0);
  return layout;
}

Layout Layout::Blocked(const Shape& shape, int axis, int64_t block) {
  Layout layout = RowMajor(shape);
  if (block == 1) return layout;
  layout.dims[axis].extent = (shape[axis] + block - 1) / block;
  layout.dims.push_back({axis, block});
  return layout;
}

Layout Layout::AxisLast(const Shape& shape, int axis) {
  Layout layout = RowMajor(shape);
  const auto at = layout.dims.begin() + axis;
  const bool within = std::any_of(
      at + 1, layout.dims.end(), [](const Dim& dim) { return dim.extent > 1; });
  if (within && shape[axis] > 1) std::rotate(at, at + 1, layout.dims.end());
  return layout;
}

Layout Layout::WithHalo(const Extents& low, const Extents& high) const {
  Layout layout = *this;
  for (Dim& dim : layout.dims) {
    const int64_t added = low[dim.axis] - halo_low[dim.axis] + high[dim.axis] -
                          halo_high[dim.axis];
    MXC_CHECK(added == 0 || (block(dim.axis) == 1 && dim.span == 0), "axis {}",
              dim.axis);
    dim.extent += added;
  }
  layout.halo_low = low;
  layout.halo_high = high;
  return layout;
}

bool Layout::row_major() const {
  if (has_halo() || has_gaps() || basis != KernelBasis::kPlain) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].axis != static_cast<int>(i)) return false;
  }
  return dims.size() == halo_low.size();
}

bool Layout::has_halo() const {
  const auto positive = [](int64_t n) { return n > 0; };
  return std::ranges::any_of(halo_low, positive) ||
         std::ranges::any_of(halo_high, positive);
}

bool Layout::has_gaps(size_t first) const {
  for (size_t i = first; i < dims.size(); ++i) {
    if (dims[i].pitch() != dims[i].extent) return true;
  }
  return false;
}

Layout Layout::WithoutGaps() const {
  Layout layout = *this;
  for (Dim& dim : layout.dims) dim.span = 0;
  return layout;
}

int64_t Layout::elements() const {
  int64_t product = 1;
  for (const Dim& dim : dims) product *= dim.extent;
  return product;
}

int64_t Layout::reach() const {
  const Extents steps = strides();
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].extent == 0) return 0;
    last += (dims[i].extent - 1) * steps[i];
  }
  return last + 1;
}

int64_t Layout::block(int axis) const {
  int parts = 0;
  int64_t innermost = 1;
  for (const Dim& dim : dims) {
    if (dim.axis != axis) continue;
    ++parts;
    innermost = dim.extent;
  }
  return parts > 1 ? innermost : 1;
}

Extents Layout::strides() const {
  Extents strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i].pitch();
  }
  return strides;
}

int64_t Layout::Offset(const Extents& index) const {
  Extents rest = index;
  for (size_t axis = 0; axis < rest.size(); ++axis)
    rest[axis] += halo_low[axis];
  const Extents steps = strides();
  int64_t offset = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto& [axis, extent, span] = dims[i];
    const bool outermost = std::none_of(
        dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i),
        [axis = axis](const Dim& d) { return d.axis == axis; });
    offset += (outermost ? rest[axis] : rest[axis] % extent) * steps[i];
    rest[axis] /= extent;
  }
  return offset;
}

Layout Layout::InStridesOf(const Layout& larger) const {
  MXC_CHECK(dims.size() == larger.dims.size(), "{}", ToString(larger));
  Layout window = *this;
  bool followed = false;  // what is behind the last position of all is no gap
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim& dim = window.dims[i];
    const int64_t pitch = larger.dims[i].pitch();
    dim.span = followed && pitch != dim.extent ? pitch : 0;
    followed = followed || dim.extent > 1;
  }
  return window;
}

std::optional<Layout> Layout::Window(const Shape& shape, const Extents& begin,
                                     const Extents& extent) const {
  Layout window = *this;
  std::vector<bool> seen(extent.size(), false);
  for (Dim& dim : window.dims) {
    const auto axis = static_cast<size_t>(dim.axis);
    const int64_t all = shape[dim.axis], part = block(dim.axis);
    if (seen[axis] || extent[axis] == all) continue;
    seen[axis] = true;
    const bool ends = begin[axis] + extent[axis] == all;
    if (begin[axis] % part != 0 || (!ends && extent[axis] % part != 0)) {
      return std::nullopt;
    }
    if (begin[axis] > 0) window.halo_low[axis] = 0;
    if (!ends) window.halo_high[axis] = 0;
    dim.extent = window.halo_low[axis] + (extent[axis] + part - 1) / part +
                 window.halo_high[axis];
  }
  return window.InStridesOf(*this);
}

std::string_view BasisName(KernelBasis basis) {
  switch (basis) {
    case KernelBasis::kPlain:
      return "";
    case KernelBasis::kWinograd4:
      return "winograd4";
    case KernelBasis::kWinograd6:
      return "winograd6";
    case KernelBasis::kWinograd8:
      return "winograd8";
    case KernelBasis::kStrassen:
      return "strassen";
  }
  return "";
}

std::string ToString(const Layout& layout) {
  std::string out = "{";
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    const auto& [axis, extent, span] = layout.dims[i];
    out += fmt::format("{}{}:{}", i > 0 ? " " : "", axis, extent);
    if (span > 0) out += fmt::format(" of {}", span);
  }
  for (size_t axis = 0; axis < layout.halo_low.size(); ++axis) {
    if (layout.halo_low[axis] == 0 && layout.halo_high[axis] == 0) continue;
    out += fmt::format(" halo{}:{}+{}", axis, layout.halo_low[axis],
                       layout.halo_high[axis]);
  }
  if (BasisName(layout.basis).empty()) return out + "}";
  return out + fmt::format(" {}}}", BasisName(layout.basis));
}

}  // namespace mxc
