// SPDX-License-Identifier: Apache-2.0
// Arithmetic on integers as kernel IR defines it, for constants and the
// evaluator. Exact for all types.
#pragma once

#include "ir/program/expr.h"

namespace mxc {

// What `dtype` (an integer type, not bool) keeps of an integer of at most 64
// bits: its lowest bits.
Element Wrapped(Element value, DType dtype);

// A float cut towards zero to an integer of type `dtype` (not bool). What does
// not fit becomes what x86 makes of it, and so MXNet: i64 and u32 are cut from
// 64 bits, the others from 32, of which NaN and all beyond yield the least.
// u64 holds the nearest that it can, and 0 for NaN.
Element Truncated(Element value, DType dtype);

// a op b on integers, or booleans, of type `dtype`: wraps around, never traps.
// Of booleans a sum is whether one is true, a product whether both are.
Element IntegerResult(BinaryOp op, DType dtype, Element a, Element b);

// The least and the largest of a type of integers, or of booleans.
Element LeastInteger(DType dtype);
Element LargestInteger(DType dtype);

// a mod b with the sign of b, of any numbers; 0 for b = 0.
Element FloorRemainder(Element a, Element b);

}  // namespace mxc
