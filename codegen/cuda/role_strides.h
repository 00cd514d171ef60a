// SPDX-License-Identifier: Apache-2.0
// What libraries are told of a contraction's operands and epilogue.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "ir/program/role_strides.h"

namespace mxc {

// Nothing where an axis lies in blocks or with a border.
std::optional<RoleStrides> StridesOf(const Contraction& c,
                                     const std::vector<Role>& axes,
                                     const Layout& layout);

// The operand of f32 that the step's epilogue adds to each sum before it is
// stored, an element for each of so many channels; 0 where it adds none. Nothing
// of other epilogues.
std::optional<int64_t> BiasOf(const Program& program, const Step& step,
                              int64_t channels);

}  // namespace mxc
