// SPDX-License-Identifier: Apache-2.0
// NumPy's functions of two operands that mx.sym lacks: of two tensors, with
// broadcasting, of a tensor and a number on either side.
#include "ir/ops/numpy/elementwise/np_arithmetic.h"
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {

MXC_OP(NpiArctan2) {
  return BroadcastOperator("_npi_arctan2", "the angle of the points (x2, x1)",
                           np::Arctan2)
      .FloatsOnly();
}

MXC_OP(NpiArctan2Scalar) {
  return ScalarOperator("_npi_arctan2_scalar",
                        "the angle of the points (scalar, data)", np::Arctan2)
      .FloatsOnly();
}

MXC_OP(NpiRarctan2Scalar) {
  return ScalarOperator("_npi_rarctan2_scalar",
                        "the angle of the points (data, scalar)", np::Arctan2,
                        ScalarSide::kLeft)
      .FloatsOnly();
}

MXC_OP(NpiCopysign) {
  return BroadcastOperator(
      "_npi_copysign", "the magnitude of x1 with the sign of x2", np::CopySign);
}

MXC_OP(NpiCopysignScalar) {
  return ScalarOperator("_npi_copysign_scalar",
                        "the magnitude of data with the sign of scalar",
                        np::CopySign);
}

MXC_OP(NpiRcopysignScalar) {
  return ScalarOperator("_npi_rcopysign_scalar",
                        "the magnitude of scalar with the sign of data",
                        np::CopySign, ScalarSide::kLeft);
}

MXC_OP(NpiLdexp) {
  return BroadcastOperator("_npi_ldexp", "x1 · 2^x2", np::Ldexp);
}

MXC_OP(NpiLdexpScalar) {
  return ScalarOperator("_npi_ldexp_scalar", "data · 2^scalar", np::Ldexp);
}

MXC_OP(NpiRldexpScalar) {
  return ScalarOperator("_npi_rldexp_scalar", "scalar · 2^data", np::Ldexp,
                        ScalarSide::kLeft);
}

}  // namespace mxc
