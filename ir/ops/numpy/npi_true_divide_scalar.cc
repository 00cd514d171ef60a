// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiTrueDivideScalar) {
  return Op<ScalarAttrs>("_npi_true_divide_scalar")
      .Doc("data / scalar, of whole numbers a float32")
      .Types(TrueDivisionTypes)
      .Decompose([](const ScalarAttrs& a, const Node& node, GraphBuilder& b) {
        return std::vector<Value>{b.Div(TrueDividend(b, node), a.scalar)};
      });
}

}  // namespace mxc
