// SPDX-License-Identifier: Apache-2.0
// What kinds of steps that hold a program say of it.
#pragma once

#include <cstddef>
#include <string>

#include "ir/program/program.h"

namespace mxc {

// All that calls of its steps depend on: where buffers lie, and the steps' own
// keys. The first `windows` buffers are the step's operands.
std::string InnerKey(const Program& program, size_t windows,
                     const ExprText& text);

// Floating-point operations of one run.
double InnerFlops(const Program& program);

}  // namespace mxc
