// SPDX-License-Identifier: Apache-2.0
// Truth of numbers, true where they are not 0, as 1 or 0 in the type of the
// operands. Each connective is three rows: of two tensors of one shape, with
// broadcasting, of a tensor and a number.
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(LogicalNot) {
  return UnaryOperator(
             "logical_not", "1 where x is 0, else 0",
             [](Expr x) { return Cast(x == Constant(0, x->dtype), x->dtype); },
             Arithmetic::kExact)
      .ZeroGradient();
}

MXC_OP(ElemwiseLogicalAnd) {
  return ElementwiseOperator("_logical_and", "1 where both are not 0, else 0",
                             arithmetic::LogicalAnd)
      .Alias({"_Logical_And"})
      .ZeroGradient();
}

MXC_OP(BroadcastLogicalAnd) {
  return BroadcastOperator("broadcast_logical_and",
                           "1 where both are not 0, else 0, with broadcasting",
                           arithmetic::LogicalAnd)
      .ZeroGradient();
}

MXC_OP(LogicalAndScalar) {
  return ScalarOperator("_logical_and_scalar",
                        "1 where data and scalar are not 0, else 0",
                        arithmetic::LogicalAnd)
      .Alias({"_LogicalAndScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseLogicalOr) {
  return ElementwiseOperator("_logical_or", "1 where either is not 0, else 0",
                             arithmetic::LogicalOr)
      .Alias({"_Logical_Or"})
      .ZeroGradient();
}

MXC_OP(BroadcastLogicalOr) {
  return BroadcastOperator("broadcast_logical_or",
                           "1 where either is not 0, else 0, with broadcasting",
                           arithmetic::LogicalOr)
      .ZeroGradient();
}

MXC_OP(LogicalOrScalar) {
  return ScalarOperator("_logical_or_scalar", "1 where either is not 0, else 0",
                        arithmetic::LogicalOr)
      .Alias({"_LogicalOrScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseLogicalXor) {
  return ElementwiseOperator("_logical_xor",
                             "1 where one is 0 and the other is not, else 0",
                             arithmetic::LogicalXor)
      .Alias({"_Logical_Xor"})
      .ZeroGradient();
}

MXC_OP(BroadcastLogicalXor) {
  return BroadcastOperator(
             "broadcast_logical_xor",
             "1 where one is 0 and the other is not, else 0, with broadcasting",
             arithmetic::LogicalXor)
      .ZeroGradient();
}

MXC_OP(LogicalXorScalar) {
  return ScalarOperator("_logical_xor_scalar",
                        "1 where one is 0 and the other is not, else 0",
                        arithmetic::LogicalXor)
      .Alias({"_LogicalXorScalar"})
      .ZeroGradient();
}

}  // namespace mxc
