// SPDX-License-Identifier: Apache-2.0
// Connects the compiler to functions and operators of users' libraries
// (runtime/mxc_operators.h).
#pragma once

namespace mxc {

// From now on the interpreter computes a user's functions by calling them, in
// the element types of their operands, or with f64 for all floats where it
// computes in double throughout; NaN where one fails.
void InterpretUserCalls();

// From now on networks find the operators that libraries have registered.
void UseLibraryOperators();

}  // namespace mxc
