// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"
#include "ir/ops/tensor/row_forms.h"

namespace mxc {

MXC_OP(BroadcastMul) {
  return BroadcastOperator("broadcast_mul", "the product with broadcasting",
                           arithmetic::Multiply)
      .AsRows([](const NoAttrs&, const Node& node,
                 std::span<const RowForm> factors,
                 GraphBuilder& b) { return RowsOfProduct(node, factors, b); });
}

}  // namespace mxc
