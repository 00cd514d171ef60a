// SPDX-License-Identifier: Apache-2.0
// Finds what does not change from iteration to iteration of a Repeat.
#pragma once

#include <vector>

#include "ir/program/program.h"
#include "ir/program/steps/repeat.h"

namespace mxc {

// By buffer of `body`, that of the repeat or what passes have made of it:
// whether it holds the same in every turn. Such are operands that are neither
// sliced nor carried, constants, and what pure steps make of these alone, if
// nobody outside reads it.
std::vector<bool> InvariantsOf(const Repeat& repeat, const Program& body);

}  // namespace mxc
