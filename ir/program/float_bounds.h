// SPDX-License-Identifier: Apache-2.0
// Tells between which numbers a float lies, as far as its expression says.
#pragma once

#include "ir/program/expr.h"

namespace mxc {

struct FloatBounds {
  double low, high;  // infinite where nothing is known
  bool may_be_nan;
};

// Of a value that is a float or is made of one by Max, Min, Select, rounding and
// casts.
FloatBounds BoundsOfFloat(const Expr& e);

// Returns whether `e`, a float, cut to a whole number is one of `dtype`, whatever
// its operands are.
bool FitsInteger(const Expr& e, DType dtype);

}  // namespace mxc
