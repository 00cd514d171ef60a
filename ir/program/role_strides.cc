// SPDX-License-Identifier: Apache-2.0
#include "ir/program/role_strides.h"

namespace mxc {

Extents DimsOf(const Contraction& c, std::span<const Role> axes,
               const Extents& spatial) {
  Extents dims;
  for (const Role role : axes) {
    switch (role) {
      case Role::kBatch:
        dims.push_back(c.batch);
        break;
      case Role::kGroup:
        dims.push_back(c.groups);
        break;
      case Role::kIn:
        dims.push_back(c.in);
        break;
      case Role::kOut:
        dims.push_back(c.out);
        break;
      case Role::kGroupIn:
        dims.push_back(c.groups * c.in);
        break;
      case Role::kGroupOut:
        dims.push_back(c.groups * c.out);
        break;
      case Role::kGroupBatch:
        dims.push_back(c.groups * c.batch);
        break;
      default:
        dims.push_back(spatial[static_cast<size_t>(role) -
                               static_cast<size_t>(Role::kSpatial0)]);
    }
  }
  return dims;
}

RoleStrides RoleStridesOf(const Contraction& c, std::span<const Role> axes,
                          std::span<const int64_t> strides) {
  RoleStrides found;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const int64_t stride = strides[axis];
    const auto within = [&](int64_t& inner, int64_t extent) {
      inner = stride;
      found.group = stride * extent;
    };
    switch (axes[axis]) {
      case Role::kBatch:
        found.batch = stride;
        break;
      case Role::kGroup:
        found.group = stride;
        break;
      case Role::kIn:
        found.in = stride;
        break;
      case Role::kOut:
        found.out = stride;
        break;
      case Role::kGroupIn:
        within(found.in, c.in);
        break;
      case Role::kGroupOut:
        within(found.out, c.out);
        break;
      case Role::kGroupBatch:
        within(found.batch, c.batch);
        break;
      case Role::kSpatial0:
        found.spatial[0] = stride;
        break;
      case Role::kSpatial1:
        found.spatial[1] = stride;
        break;
      case Role::kSpatial2:
        found.spatial[2] = stride;
        break;
    }
  }
  return found;
}

}  // namespace mxc
