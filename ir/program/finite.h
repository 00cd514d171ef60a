// SPDX-License-Identifier: Apache-2.0
// Tests floats for NaN and infinity in kernel IR.
#pragma once

#include <limits>

#include "ir/program/expr.h"

namespace mxc {

// Whether a float is a number. (x - x == 0 is no test: where x is a product, code
// that fuses multiplications and subtractions finds its rounding error.)
inline Expr IsFinite(const Expr& x) {
  return Unary(UnaryOp::kAbs, x) <
         Lit(std::numeric_limits<double>::infinity(), x);
}

}  // namespace mxc
