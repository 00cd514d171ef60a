// SPDX-License-Identifier: Apache-2.0
// What libraries are told of a contraction's operands and epilogue.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// How far apart the elements of an operand lie, in elements, along each
// dimension of the contraction.
struct RoleStrides {
  int64_t group = 0, batch = 0, in = 0, out = 0;
  std::array<int64_t, 3> spatial = {};
};

// Nothing where an axis lies in blocks or with a border. An axis of a group and
// what is within it, such as kGroupIn, is two of the contraction's dimensions.
std::optional<RoleStrides> StridesOf(const Contraction& c,
                                     const std::vector<Role>& axes,
                                     const Layout& layout);

// The operand of f32 that the step's epilogue adds to each sum before it is
// stored, an element for each of so many channels; 0 where it adds none. Nothing
// of other epilogues.
std::optional<int64_t> BiasOf(const Program& program, const Step& step,
                              int64_t channels);

}  // namespace mxc
