// SPDX-License-Identifier: Apache-2.0
// Products, quotients and remainders: of two tensors of one shape, with
// broadcasting, of a tensor and a number on either side.
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/sparse/row_forms.h"

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

MXC_OP(BroadcastMul) {
  return BroadcastOperator("broadcast_mul", "the product with broadcasting",
                           arithmetic::Multiply)
      .AsRows([](const NoAttrs&, const Node& node,
                 std::span<const RowForm> factors,
                 GraphBuilder& b) { return RowsOfProduct(node, factors, b); });
}

MXC_OP(MulScalar) {
  return ScalarOperator("_mul_scalar", "data * scalar", arithmetic::Multiply)
      .Alias({"_MulScalar", "_npi_multiply_scalar"})
      .AsRows([](const ScalarAttrs& attrs, const Node&,
                 std::span<const RowForm> data, GraphBuilder& b) -> RowForm {
        if (!data[0]) return {};
        return {data[0].numbers, b.Mul(data[0].rows, attrs.scalar)};
      });
}

MXC_OP(ElemwiseDiv) {
  return ElementwiseOperator("elemwise_div", "lhs / rhs, integers towards zero",
                             arithmetic::Divide)
      .Alias({"_div", "_Div", "_scatter_elemwise_div"});
}

MXC_OP(BroadcastDiv) {
  return BroadcastOperator("broadcast_div",
                           "lhs / rhs, integers towards zero with broadcasting",
                           arithmetic::Divide);
}

MXC_OP(DivScalar) {
  return ScalarOperator("_div_scalar", "data / scalar, integers towards zero",
                        arithmetic::Divide)
      .Alias({"_DivScalar"});
}

MXC_OP(RdivScalar) {
  return ScalarOperator("_rdiv_scalar", "scalar / data, integers towards zero",
                        arithmetic::Divide, ScalarSide::kLeft)
      .Alias({"_RDivScalar"});
}

MXC_OP(ElemwiseMod) {
  return ElementwiseOperator("_mod",
                             "the remainder, with the sign of the divisor",
                             arithmetic::Modulo)
      .Alias({"_Mod"});
}

MXC_OP(BroadcastMod) {
  return BroadcastOperator(
             "broadcast_mod",
             "the remainder, with the sign of the divisor, with broadcasting",
             arithmetic::Modulo)
      .Alias({"_npi_mod"});
}

MXC_OP(ModScalar) {
  return ScalarOperator("_mod_scalar",
                        "data mod scalar, with the sign of the scalar",
                        arithmetic::Modulo)
      .Alias({"_ModScalar", "_npi_mod_scalar"});
}

MXC_OP(RmodScalar) {
  return ScalarOperator("_rmod_scalar",
                        "scalar mod data, with the sign of the data",
                        arithmetic::Modulo, ScalarSide::kLeft)
      .Alias({"_RModScalar", "_npi_rmod_scalar"});
}

}  // namespace mxc
