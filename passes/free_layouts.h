// SPDX-License-Identifier: Apache-2.0
// Finds the buffers whose layout a pass may choose.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// By buffer, whether all that read and write it take any layout: internal ones
// that are no operands of steps that must have rows.
std::vector<bool> BuffersOfAnyLayout(const Program& program);

}  // namespace mxc
