// SPDX-License-Identifier: Apache-2.0
// Arithmetic on integers as kernel IR defines it, for constants and the
// evaluator, which both keep a value of any type as a double.
#pragma once

#include "ir/program/expr.h"

namespace mxc {

// What `dtype` (an integer type, not bool) keeps of an integer: its lowest
// bits. Exact for |value| < 2^63; i64 and u64 are rounded to 53 digits.
double Wrapped(double value, DType dtype);

// A float cut towards zero to an integer of type `dtype` (not bool). What does
// not fit becomes what x86 makes of it, and so MXNet: i64 and u32 are cut from
// 64 bits, the others from 32, of which NaN and all beyond yield the least.
// u64 holds the nearest that it can, and 0 for NaN.
double Truncated(double value, DType dtype);

// a op b on integers, or booleans, of type `dtype`: wraps around, never traps.
double IntegerResult(BinaryOp op, DType dtype, double a, double b);

// a mod b with the sign of b, of any numbers; 0 for b = 0.
double FloorRemainder(double a, double b);

}  // namespace mxc
