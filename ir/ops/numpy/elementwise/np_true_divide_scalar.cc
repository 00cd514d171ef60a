// SPDX-License-Identifier: Apache-2.0
// Division of a tensor by a number, and of a number by a tensor.
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {

MXC_OP(NpiTrueDivideScalar) {
  return Op<ScalarAttrs>("_npi_true_divide_scalar")
      .Doc("data / scalar, of whole numbers a float32")
      .Types(TrueDivisionTypes)
      .Decompose([](const ScalarAttrs& a, const Node& node, GraphBuilder& b) {
        return std::vector<Value>{b.Div(TrueDividend(b, node), a.scalar)};
      });
}

MXC_OP(NpiRtrueDivideScalar) {
  return Op<ScalarAttrs>("_npi_rtrue_divide_scalar")
      .Doc("scalar / data, of whole numbers a float32")
      .Types(TrueDivisionTypes)
      .Decompose([](const ScalarAttrs& a, const Node& node, GraphBuilder& b) {
        return std::vector<Value>{b.Div(a.scalar, TrueDividend(b, node))};
      });
}

}  // namespace mxc
