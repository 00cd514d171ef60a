// SPDX-License-Identifier: Apache-2.0
// Angles and their functions, hyperbolic ones too: a row for each.
#include <numbers>

#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(Sin) {
  return UnaryOperator("sin", "the sine", UnaryOp::kSin).Alias({"_npi_sin"});
}

MXC_OP(Cos) {
  return UnaryOperator("cos", "the cosine", UnaryOp::kCos).Alias({"_npi_cos"});
}

MXC_OP(Tan) {
  return UnaryOperator("tan", "the tangent", UnaryOp::kTan)
      .Alias({"_npi_tan"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return Lit(1, y) + y * y; });
}

MXC_OP(Arcsin) {
  return UnaryOperator("arcsin", "the angle whose sine is x", UnaryOp::kAsin)
      .Alias({"_npi_arcsin"});
}

MXC_OP(Arccos) {
  return UnaryOperator("arccos", "the angle whose cosine is x", UnaryOp::kAcos)
      .Alias({"_npi_arccos"});
}

MXC_OP(Arctan) {
  return UnaryOperator("arctan", "the angle whose tangent is x", UnaryOp::kAtan)
      .Alias({"_npi_arctan"});
}

MXC_OP(Sinh) {
  return UnaryOperator("sinh", "the hyperbolic sine", UnaryOp::kSinh)
      .Alias({"_npi_sinh"});
}

MXC_OP(Cosh) {
  return UnaryOperator("cosh", "the hyperbolic cosine", UnaryOp::kCosh)
      .Alias({"_npi_cosh"});
}

MXC_OP(Tanh) {
  return UnaryOperator("tanh", "the hyperbolic tangent", Tanh)
      .Alias({"_npi_tanh"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return Lit(1, y) - y * y; });
}

MXC_OP(Arcsinh) {
  return UnaryOperator("arcsinh", "the number whose hyperbolic sine is x",
                       UnaryOp::kAsinh)
      .Alias({"_npi_arcsinh"});
}

MXC_OP(Arccosh) {
  return UnaryOperator("arccosh", "the number whose hyperbolic cosine is x",
                       UnaryOp::kAcosh)
      .Alias({"_npi_arccosh"});
}

MXC_OP(Arctanh) {
  return UnaryOperator("arctanh", "the number whose hyperbolic tangent is x",
                       UnaryOp::kAtanh)
      .Alias({"_npi_arctanh"});
}

MXC_OP(Degrees) {
  return UnaryOperator(
             "degrees", "radians in degrees",
             [](Expr x) { return x * Lit(180 / std::numbers::pi, x); })
      .Alias({"_npi_degrees"});
}

MXC_OP(Radians) {
  return UnaryOperator(
             "radians", "degrees in radians",
             [](Expr x) { return x * Lit(std::numbers::pi / 180, x); })
      .Alias({"_npi_radians"});
}

}  // namespace mxc
