// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(MulScalar) {
  return ScalarOperator("_mul_scalar", "data * scalar", arithmetic::Multiply)
      .Alias({"_MulScalar", "_npi_multiply_scalar"})
      .AsRows([](const ScalarAttrs& attrs, const Node&,
                 std::span<const RowForm> data, GraphBuilder& b) -> RowForm {
        if (!data[0]) return {};
        return {data[0].numbers, b.Mul(data[0].rows, attrs.scalar)};
      });
}

}  // namespace mxc
