// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"
#include "ir/ops/tensor/row_forms.h"

namespace mxc {

MXC_OP(ElemwiseMul) {
  return ElementwiseOperator("elemwise_mul", "the product",
                             arithmetic::Multiply)
      .Alias({"_mul", "_Mul"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{
            g.Needs(0) ? g.Op<op::ElemwiseMul>({g.Head(), g.In(1)}) : Value(),
            g.Needs(1) ? g.Op<op::ElemwiseMul>({g.Head(), g.In(0)}) : Value()};
      })
      .AsRows([](const NoAttrs&, const Node& node,
                 std::span<const RowForm> factors,
                 GraphBuilder& b) { return RowsOfProduct(node, factors, b); });
}

}  // namespace mxc
