// SPDX-License-Identifier: Apache-2.0
// The extents of a contraction's operand, and how far apart its elements lie
// along each of the contraction's dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/program/steps/contraction.h"

namespace mxc {

// Of an operand with these axes, in their order; `spatial` are its extents along
// the axes that windows slide over.
Extents DimsOf(const Contraction& c, std::span<const Role> axes,
               const Extents& spatial);

// In elements; 0 along dimensions that the operand does not have.
struct RoleStrides {
  int64_t group = 0, batch = 0, in = 0, out = 0;
  std::array<int64_t, 3> spatial = {};
};

// Of an operand with these axes, in any order, and their strides. An axis of a
// group and what is within it, such as kGroupIn, is two of the contraction's
// dimensions.
RoleStrides RoleStridesOf(const Contraction& c, std::span<const Role> axes,
                          std::span<const int64_t> strides);

}  // namespace mxc
