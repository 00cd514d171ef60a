// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"
#include "ir/ops/tensor/row_forms.h"

namespace mxc {

MXC_OP(ElemwiseAdd) {
  return ElementwiseOperator("elemwise_add", "the sum", arithmetic::Add)
      .Alias({"_plus", "_Plus", "_add", "_grad_add"})
      .PassGradient()
      .AsRows([](const NoAttrs&, const Node&, std::span<const RowForm> terms,
                 GraphBuilder& b) { return RowsOfSum(terms, b); });
}

}  // namespace mxc
