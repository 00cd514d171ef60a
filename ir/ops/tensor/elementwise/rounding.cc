// SPDX-License-Identifier: Apache-2.0
// Signs, magnitudes and whole numbers near x: a row for each.
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

Expr HalvesDown(Expr x) {
  const Expr floor = Unary(UnaryOp::kFloor, x), ceil = Unary(UnaryOp::kCeil, x);
  return Select(x - floor <= ceil - x, floor, ceil);
}

}  // namespace

MXC_OP(Abs) {
  return UnaryOperator("abs", "the absolute value", Abs, Arithmetic::kExact)
      .Alias({"_npi_abs", "_npi_absolute"});
}

MXC_OP(Negative) {
  return UnaryOperator(
             "negative", "-x", [](Expr x) { return -x; }, Arithmetic::kExact)
      .Alias({"_npi_negative"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Neg(g.Head())};
      });
}

MXC_OP(Sign) {
  return UnaryOperator("sign", "-1, 0 or 1", UnaryOp::kSign, Arithmetic::kExact)
      .Alias({"_npi_sign"})
      .ZeroGradient();
}

MXC_OP(SignSte) {
  return UnaryOperator("_contrib_sign_ste", "-1, 0 or 1; its gradient is 1",
                       UnaryOp::kSign, Arithmetic::kExact)
      .PassGradient();
}

MXC_OP(Floor) {
  return UnaryOperator("floor", "the greatest integer not above x",
                       UnaryOp::kFloor, Arithmetic::kExact)
      .Alias({"_npi_floor"})
      .ZeroGradient();
}

MXC_OP(Ceil) {
  return UnaryOperator("ceil", "the least integer not below x", UnaryOp::kCeil,
                       Arithmetic::kExact)
      .Alias({"_npi_ceil"})
      .ZeroGradient();
}

MXC_OP(Trunc) {
  return UnaryOperator("trunc", "x without its fraction", UnaryOp::kTrunc,
                       Arithmetic::kExact)
      .Alias({"_npi_trunc"})
      .ZeroGradient();
}

MXC_OP(Fix) {
  return UnaryOperator("fix", "the nearest integer towards zero",
                       UnaryOp::kTrunc, Arithmetic::kExact)
      .Alias({"_npi_fix"})
      .ZeroGradient();
}

MXC_OP(Rint) {
  return UnaryOperator("rint", "the nearest integer, halves to the lower one",
                       HalvesDown)
      .Alias({"_npi_rint"})
      .ZeroGradient();
}

MXC_OP(Round) {
  return UnaryOperator("round", "the nearest integer, halves away from zero",
                       UnaryOp::kRound, Arithmetic::kExact)
      .ZeroGradient();
}

MXC_OP(RoundSte) {
  return UnaryOperator(
             "_contrib_round_ste",
             "the nearest integer, halves away from zero; its gradient is 1",
             UnaryOp::kRound)
      .PassGradient();
}

}  // namespace mxc
