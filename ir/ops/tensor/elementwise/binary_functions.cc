// SPDX-License-Identifier: Apache-2.0
// Extrema, powers and hypotenuses: of two tensors of one shape, with
// broadcasting, of a tensor and a number on either side.
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {

MXC_OP(ElemwiseMaximum) {
  return ElementwiseOperator("_maximum", "the greater one", arithmetic::Maximum)
      .Alias({"_Maximum"});
}

MXC_OP(BroadcastMaximum) {
  return BroadcastOperator("broadcast_maximum",
                           "the greater one, with broadcasting",
                           arithmetic::Maximum)
      .Alias({"_npi_maximum"});
}

MXC_OP(MaximumScalar) {
  return ScalarOperator("_maximum_scalar", "the greater of data and scalar",
                        arithmetic::Maximum)
      .Alias({"_MaximumScalar", "_npi_maximum_scalar"});
}

MXC_OP(ElemwiseMinimum) {
  return ElementwiseOperator("_minimum", "the lesser one", arithmetic::Minimum)
      .Alias({"_Minimum"});
}

MXC_OP(BroadcastMinimum) {
  return BroadcastOperator("broadcast_minimum",
                           "the lesser one, with broadcasting",
                           arithmetic::Minimum)
      .Alias({"_npi_minimum"});
}

MXC_OP(MinimumScalar) {
  return ScalarOperator("_minimum_scalar", "the lesser of data and scalar",
                        arithmetic::Minimum)
      .Alias({"_MinimumScalar", "_npi_minimum_scalar"});
}

MXC_OP(ElemwisePower) {
  return ElementwiseOperator("_power", "lhs to the power rhs",
                             arithmetic::Power)
      .Alias({"_Power"});
}

MXC_OP(BroadcastPower) {
  return BroadcastOperator("broadcast_power",
                           "lhs to the power rhs, with broadcasting",
                           arithmetic::Power)
      .Alias({"_npi_power"});
}

MXC_OP(PowerScalar) {
  return ScalarOperator("_power_scalar", "data to the power scalar",
                        arithmetic::Power)
      .Alias({"_PowerScalar", "_npi_power_scalar"});
}

MXC_OP(RpowerScalar) {
  return ScalarOperator("_rpower_scalar", "scalar to the power data",
                        arithmetic::Power, ScalarSide::kLeft)
      .Alias({"_RPowerScalar", "_npi_rpower_scalar"});
}

MXC_OP(ElemwiseHypot) {
  return ElementwiseOperator("_hypot",
                             "the square root of the sum of the squares",
                             arithmetic::Hypotenuse)
      .Alias({"_Hypot"});
}

MXC_OP(BroadcastHypot) {
  return BroadcastOperator(
             "broadcast_hypot",
             "the square root of the sum of the squares, with broadcasting",
             arithmetic::Hypotenuse)
      .Alias({"_npi_hypot"});
}

MXC_OP(HypotScalar) {
  return ScalarOperator("_hypot_scalar",
                        "the square root of data squared plus scalar squared",
                        arithmetic::Hypotenuse)
      .Alias({"_npi_hypot_scalar", "_HypotScalar"});
}

}  // namespace mxc
