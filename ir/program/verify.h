// SPDX-License-Identifier: Apache-2.0
// What kinds of steps verify themselves with.
#pragma once

#include <optional>
#include <string>

#include "ir/program/program.h"

namespace mxc {

// What is wrong with a program inside of a step, the first `windows` buffers of
// which are parts of the step's operands.
std::optional<std::string> VerifyInner(const Program& program, size_t windows);

// What is wrong with an expression of a step over `rank` index variables: its
// Loads name inputs of their types, and no variable is free beside the indices.
std::optional<std::string> VerifyExpr(const Program& program, const Step& step,
                                      const Expr& e, size_t rank);

}  // namespace mxc
