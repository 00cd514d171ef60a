// SPDX-License-Identifier: Apache-2.0
// Functions of two elements of one type, with MXNet's results (mshadow_op.h).
// Elementwise, broadcasting and scalar operators share them. Comparisons and
// logical functions give 1 or 0 in the type of the operands.
#pragma once

#include "ir/graph/operator.h"
#include "ir/program/expr.h"

namespace mxc {

using BinaryFunction = Expr (*)(Expr a, Expr b);

namespace arithmetic {

Expr Add(Expr a, Expr b);
Expr Subtract(Expr a, Expr b);
Expr Multiply(Expr a, Expr b);
Expr Divide(Expr a, Expr b);  // integers: towards zero
Expr Modulo(Expr a, Expr b);  // sign of the divisor; x mod 0 = 0
Expr Power(Expr a, Expr b);
Expr Maximum(Expr a, Expr b);  // NaN if either is NaN
Expr Minimum(Expr a, Expr b);
Expr Hypotenuse(Expr a, Expr b);

Expr IsEqual(Expr a, Expr b);
Expr IsNotEqual(Expr a, Expr b);
Expr IsGreater(Expr a, Expr b);
Expr IsGreaterEqual(Expr a, Expr b);
Expr IsLesser(Expr a, Expr b);
Expr IsLesserEqual(Expr a, Expr b);
Expr LogicalAnd(Expr a, Expr b);  // every value but 0 is true
Expr LogicalOr(Expr a, Expr b);
Expr LogicalXor(Expr a, Expr b);

}  // namespace arithmetic

// Inputs 1 and 2, between which is chosen, and the output are of one type.
void ChoiceTypes(TypeInference& t);
// x != 0, as a condition.
Expr IsTrue(const Expr& x);
// The number as a constant of the type, rounded as MXNet rounds an attribute:
// to nearest for floats, towards zero for integers, as which it wraps around.
Expr Number(double value, DType dtype);

}  // namespace mxc
