// SPDX-License-Identifier: Apache-2.0
// Powers, roots, exponentials and logarithms: a row for each.
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(Square) {
  return UnaryOperator(
             "square", "x times x", [](Expr x) { return x * x; },
             Arithmetic::kExact)
      .Alias({"_npi_square"});
}

MXC_OP(Sqrt) {
  return UnaryOperator("sqrt", "the square root", Sqrt)
      .Alias({"_npi_sqrt"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return Lit(0.5, y) / y; });
}

MXC_OP(Rsqrt) {
  return UnaryOperator("rsqrt", "1 / the square root",
                       [](Expr x) { return Lit(1, x) / Sqrt(x); })
      .SlopeOfOutput(
          [](const NoAttrs&, Expr y) { return Lit(-0.5, y) * y * y * y; });
}

MXC_OP(Cbrt) {
  return UnaryOperator("cbrt", "the cube root", UnaryOp::kCbrt)
      .Alias({"_npi_cbrt"})
      .SlopeOfOutput(
          [](const NoAttrs&, Expr y) { return Lit(1.0 / 3, y) / (y * y); });
}

MXC_OP(Rcbrt) {
  return UnaryOperator(
             "rcbrt", "1 / the cube root",
             [](Expr x) { return Lit(1, x) / Unary(UnaryOp::kCbrt, x); })
      .SlopeOfOutput([](const NoAttrs&, Expr y) {
        const Expr square = y * y;
        return Lit(-1.0 / 3, y) * square * square;
      });
}

MXC_OP(Reciprocal) {
  return UnaryOperator("reciprocal", "1 / x",
                       [](Expr x) { return Lit(1, x) / x; })
      .Alias({"_npi_reciprocal"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return -(y * y); });
}

MXC_OP(Exp) {
  return UnaryOperator("exp", "e to the power x", Exp)
      .Alias({"_npi_exp"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return y; });
}

MXC_OP(Expm1) {
  return UnaryOperator("expm1", "e to the power x, minus 1", UnaryOp::kExpm1)
      .Alias({"_npi_expm1"});
}

MXC_OP(Log) {
  return UnaryOperator("log", "the natural logarithm", Log).Alias({"_npi_log"});
}

MXC_OP(Log2) {
  return UnaryOperator("log2", "the logarithm to base 2", UnaryOp::kLog2)
      .Alias({"_npi_log2"});
}

MXC_OP(Log10) {
  return UnaryOperator("log10", "the logarithm to base 10", UnaryOp::kLog10)
      .Alias({"_npi_log10"});
}

MXC_OP(Log1p) {
  return UnaryOperator("log1p", "the natural logarithm of 1 + x",
                       UnaryOp::kLog1p)
      .Alias({"_npi_log1p"});
}

}  // namespace mxc
