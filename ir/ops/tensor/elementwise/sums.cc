// SPDX-License-Identifier: Apache-2.0
// Sums and differences: of two tensors of one shape, with broadcasting, of a
// tensor and a number on either side.
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/sparse/row_forms.h"

namespace mxc {

MXC_OP(ElemwiseAdd) {
  return ElementwiseOperator("elemwise_add", "the sum", arithmetic::Add)
      .Alias({"_plus", "_Plus", "_add", "_grad_add"})
      .PassGradient()
      .AsRows([](const NoAttrs&, const Node&, std::span<const RowForm> terms,
                 GraphBuilder& b) { return RowsOfSum(terms, b); });
}

MXC_OP(BroadcastAdd) {
  return BroadcastOperator("broadcast_add", "the sum with broadcasting",
                           arithmetic::Add)
      .Alias({"broadcast_plus"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.HeadSummedTo(0), g.HeadSummedTo(1)};
      });
}

MXC_OP(PlusScalar) {
  return ScalarOperator("_plus_scalar", "data + scalar", arithmetic::Add)
      .Alias({"_PlusScalar", "_npi_add_scalar", "_scatter_plus_scalar"})
      .PassGradient();
}

MXC_OP(ElemwiseSub) {
  return ElementwiseOperator("elemwise_sub", "lhs minus rhs",
                             arithmetic::Subtract)
      .Alias({"_sub", "_minus", "_Minus", "_Sub"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Head(),
                                  g.Needs(1) ? g.Neg(g.Head()) : Value()};
      });
}

MXC_OP(BroadcastSub) {
  return BroadcastOperator("broadcast_sub", "lhs minus rhs with broadcasting",
                           arithmetic::Subtract)
      .Alias({"broadcast_minus"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        const Value rhs = g.HeadSummedTo(1);
        return std::vector<Value>{g.HeadSummedTo(0), rhs ? g.Neg(rhs) : rhs};
      });
}

MXC_OP(MinusScalar) {
  return ScalarOperator("_minus_scalar", "data - scalar", arithmetic::Subtract)
      .Alias({"_MinusScalar", "_npi_subtract_scalar", "_scatter_minus_scalar"})
      .PassGradient();
}

MXC_OP(RminusScalar) {
  return ScalarOperator("_rminus_scalar", "scalar - data", arithmetic::Subtract,
                        ScalarSide::kLeft)
      .Alias({"_RMinusScalar", "_npi_rsubtract_scalar"})
      .Gradient([](const ScalarAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Neg(g.Head())};
      });
}

}  // namespace mxc
