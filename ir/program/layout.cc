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

Layout Layout::WithHalo(const Extents& low, const Extents& high) const {
  Layout layout = *this;
  for (Dim& dim : layout.dims) {
    const int64_t added = low[dim.axis] - halo_low[dim.axis] + high[dim.axis] -
                          halo_high[dim.axis];
    MXC_CHECK(added == 0 || block(dim.axis) == 1, "axis {}", dim.axis);
    dim.extent += added;
  }
  layout.halo_low = low;
  layout.halo_high = high;
  return layout;
}

bool Layout::row_major() const {
  if (has_halo() || basis != KernelBasis::kPlain) return false;
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

int64_t Layout::elements() const {
  int64_t product = 1;
  for (const Dim& dim : dims) product *= dim.extent;
  return product;
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
    stride *= dims[i].extent;
  }
  return strides;
}

int64_t Layout::Offset(const Extents& index) const {
  Extents rest = index;
  for (size_t axis = 0; axis < rest.size(); ++axis)
    rest[axis] += halo_low[axis];
  int64_t offset = 0, stride = 1;
  std::vector<bool> seen(rest.size(), false);
  for (size_t i = dims.size(); i-- > 0;) {
    const auto [axis, extent] = dims[i];
    const bool outermost = std::none_of(
        dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i),
        [axis = axis](const Dim& d) { return d.axis == axis; });
    offset += (outermost ? rest[axis] : rest[axis] % extent) * stride;
    rest[axis] /= extent;
    stride *= extent;
  }
  return offset;
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
  }
  return "";
}

std::string ToString(const Layout& layout) {
  std::string out = "{";
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    const auto [axis, extent] = layout.dims[i];
    out += fmt::format("{}{}:{}", i > 0 ? " " : "", axis, extent);
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
