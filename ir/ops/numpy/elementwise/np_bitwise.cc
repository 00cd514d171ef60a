// SPDX-License-Identifier: Apache-2.0
// Bits of integers and truth values: of two tensors, with broadcasting, of a
// tensor and a number.
#include "ir/ops/numpy/elementwise/np_arithmetic.h"
#include "ir/ops/numpy/elementwise/np_shift.h"
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(NpiBitwiseAnd) {
  return BroadcastOperator("_npi_bitwise_and",
                           "bitwise and of integers, with broadcasting",
                           np::BitwiseAnd)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseAndScalar) {
  return ScalarOperator("_npi_bitwise_and_scalar",
                        "bitwise and of integers and a number", np::BitwiseAnd)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseOr) {
  return BroadcastOperator("_npi_bitwise_or",
                           "bitwise or of integers, with broadcasting",
                           np::BitwiseOr)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseOrScalar) {
  return ScalarOperator("_npi_bitwise_or_scalar",
                        "bitwise or of integers and a number", np::BitwiseOr)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseXor) {
  return BroadcastOperator(
             "_npi_bitwise_xor",
             "bitwise exclusive or of integers, with broadcasting",
             np::BitwiseXor)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseXorScalar) {
  return ScalarOperator("_npi_bitwise_xor_scalar",
                        "bitwise exclusive or of integers and a number",
                        np::BitwiseXor)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseNot) {
  return UnaryOperator(
             "_npi_bitwise_not", "integers with every bit turned",
             [](Expr x) {
               if (x->dtype == DType::kBool) return x == Constant(0, x->dtype);
               return Cast(Expr(-1) - Cast(x, DType::kI64), x->dtype);
             },
             Arithmetic::kExact)
      .Inputs({{"x", InputKind::kData}})
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseLeftShift) {
  return BroadcastOperator("_npi_bitwise_left_shift",
                           "integers shifted to the left, with broadcasting",
                           np::ShiftedLeft)
      .IntegersOnly()
      .ZeroGradient();
}

MXC_OP(NpiBitwiseRightShift) {
  return BroadcastOperator("_npi_bitwise_right_shift",
                           "integers shifted to the right, with broadcasting",
                           np::ShiftedRight)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
