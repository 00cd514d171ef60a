// SPDX-License-Identifier: Apache-2.0
// Operand: where the axes of one of a contraction's tensors lie, by role.
#pragma once

#include <initializer_list>
#include <vector>

#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"

namespace mxc::contraction {

class Operand {
 public:
  Operand(const Layout& layout, const std::vector<Role>& roles)
      : layout_(layout), roles_(roles), strides_(layout.strides()) {}

  std::vector<int> AxesOf(Role role) const {
    std::vector<int> axes;
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] == role) axes.push_back(static_cast<int>(i));
    }
    return axes;
  }
  // The first axis with one of the roles, -1 if there is none.
  int AxisOf(std::initializer_list<Role> roles) const {
    for (const Role role : roles) {
      const std::vector<int> axes = AxesOf(role);
      if (!axes.empty()) return axes[0];
    }
    return -1;
  }
  // Of the outermost part of an axis: the block's stride if the axis is cut.
  int64_t Stride(int axis) const {
    for (size_t i = 0; i < layout_.dims.size(); ++i) {
      if (layout_.dims[i].axis == axis) return strides_[i];
    }
    return 0;
  }
  int64_t Extent(int axis) const {
    for (const Layout::Dim& dim : layout_.dims) {
      if (dim.axis == axis) {
        return dim.extent - layout_.halo_low[axis] - layout_.halo_high[axis];
      }
    }
    return 1;
  }
  int64_t Origin() const { return layout_.Offset(Extents(roles_.size(), 0)); }
  const Layout& layout() const { return layout_; }

 private:
  const Layout& layout_;
  const std::vector<Role>& roles_;
  Extents strides_;
};

inline Role SpatialRole(size_t i) {
  return static_cast<Role>(static_cast<int>(Role::kSpatial0) + i);
}

}  // namespace mxc::contraction
