// SPDX-License-Identifier: Apache-2.0
// Comparisons: 1 where the condition holds, else 0, in the type of the
// operands. Each is three rows: of two tensors of one shape, with broadcasting,
// of a tensor and a number.
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {

MXC_OP(ElemwiseEqual) {
  return ElementwiseOperator("_equal", "1 where equal, else 0",
                             arithmetic::IsEqual)
      .Alias({"_Equal"})
      .ZeroGradient();
}

MXC_OP(BroadcastEqual) {
  return BroadcastOperator("broadcast_equal",
                           "1 where equal, else 0, with broadcasting",
                           arithmetic::IsEqual)
      .ZeroGradient();
}

MXC_OP(EqualScalar) {
  return ScalarOperator("_equal_scalar", "1 where data equals scalar, else 0",
                        arithmetic::IsEqual)
      .Alias({"_EqualScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseNotEqual) {
  return ElementwiseOperator("_not_equal", "1 where not equal, else 0",
                             arithmetic::IsNotEqual)
      .Alias({"_Not_Equal"})
      .ZeroGradient();
}

MXC_OP(BroadcastNotEqual) {
  return BroadcastOperator("broadcast_not_equal",
                           "1 where not equal, else 0, with broadcasting",
                           arithmetic::IsNotEqual)
      .ZeroGradient();
}

MXC_OP(NotEqualScalar) {
  return ScalarOperator("_not_equal_scalar",
                        "1 where data differs from scalar, else 0",
                        arithmetic::IsNotEqual)
      .Alias({"_NotEqualScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseGreater) {
  return ElementwiseOperator("_greater", "1 where lhs is greater, else 0",
                             arithmetic::IsGreater)
      .Alias({"_Greater"})
      .ZeroGradient();
}

MXC_OP(BroadcastGreater) {
  return BroadcastOperator("broadcast_greater",
                           "1 where lhs is greater, else 0, with broadcasting",
                           arithmetic::IsGreater)
      .ZeroGradient();
}

MXC_OP(GreaterScalar) {
  return ScalarOperator("_greater_scalar", "1 where data is greater, else 0",
                        arithmetic::IsGreater)
      .Alias({"_GreaterScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseGreaterEqual) {
  return ElementwiseOperator("_greater_equal",
                             "1 where lhs is not less, else 0",
                             arithmetic::IsGreaterEqual)
      .Alias({"_Greater_Equal"})
      .ZeroGradient();
}

MXC_OP(BroadcastGreaterEqual) {
  return BroadcastOperator("broadcast_greater_equal",
                           "1 where lhs is not less, else 0, with broadcasting",
                           arithmetic::IsGreaterEqual)
      .ZeroGradient();
}

MXC_OP(GreaterEqualScalar) {
  return ScalarOperator("_greater_equal_scalar",
                        "1 where data is not less, else 0",
                        arithmetic::IsGreaterEqual)
      .Alias({"_GreaterEqualScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseLesser) {
  return ElementwiseOperator("_lesser", "1 where lhs is less, else 0",
                             arithmetic::IsLesser)
      .Alias({"_Lesser"})
      .ZeroGradient();
}

MXC_OP(BroadcastLesser) {
  return BroadcastOperator("broadcast_lesser",
                           "1 where lhs is less, else 0, with broadcasting",
                           arithmetic::IsLesser)
      .ZeroGradient();
}

MXC_OP(LesserScalar) {
  return ScalarOperator("_lesser_scalar", "1 where data is less, else 0",
                        arithmetic::IsLesser)
      .Alias({"_LesserScalar"})
      .ZeroGradient();
}

MXC_OP(ElemwiseLesserEqual) {
  return ElementwiseOperator("_lesser_equal",
                             "1 where lhs is not greater, else 0",
                             arithmetic::IsLesserEqual)
      .Alias({"_Lesser_Equal"})
      .ZeroGradient();
}

MXC_OP(BroadcastLesserEqual) {
  return BroadcastOperator(
             "broadcast_lesser_equal",
             "1 where lhs is not greater, else 0, with broadcasting",
             arithmetic::IsLesserEqual)
      .ZeroGradient();
}

MXC_OP(LesserEqualScalar) {
  return ScalarOperator("_lesser_equal_scalar",
                        "1 where data is not greater, else 0",
                        arithmetic::IsLesserEqual)
      .Alias({"_LesserEqualScalar"})
      .ZeroGradient();
}

}  // namespace mxc
