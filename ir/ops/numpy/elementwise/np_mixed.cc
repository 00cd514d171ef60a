// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/elementwise/np_mixed.h"

#include <utility>

#include "ir/ops/tensor/elementwise/binary.h"

namespace mxc {
namespace {

// kUnknown where neither stands above the other.
DType Promoted(DType a, DType b) {
  if (a == b) return a;
  if (IsFloat(a) != IsFloat(b)) return IsFloat(a) ? a : b;
  if (!IsFloat(a)) return DType::kUnknown;
  return SizeOf(a) >= SizeOf(b) ? a : b;
}

}  // namespace

Op<> NpMixedOperator(std::string name, std::string doc, const Operator& (*op)(),
                     bool divides) {
  Op<> mixed(std::move(name));
  mixed.Doc(std::move(doc));
  mixed.Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}});
  mixed.Types([divides](const NoAttrs&, TypeInference& t) {
    BroadcastShapes(t);
    const DType a = t.InDType(0), b = t.InDType(1);
    if (a == DType::kUnknown || b == DType::kUnknown) return;
    const DType both = Promoted(a, b);
    if (!t.Require(both != DType::kUnknown,
                   "C2: lhs is of {}, rhs of {}, expected one type or a float",
                   ShortName(a), ShortName(b))) {
      return;
    }
    t.SetOutDType(0, divides && !IsFloat(both) ? DType::kF32 : both);
  });
  mixed.Decompose([op](const NoAttrs&, const Node& node,
                       GraphBuilder& b) -> std::vector<Value> {
    const DType dtype = node.types[0].dtype;
    return {b.Op(
        op(), {b.Cast(node.inputs[0], dtype), b.Cast(node.inputs[1], dtype)})};
  });
  return mixed;
}

MXC_OP(NpiAdd) {
  return NpMixedOperator("_npi_add", "lhs + rhs", OperatorOf<op::BroadcastAdd>);
}

MXC_OP(NpiSubtract) {
  return NpMixedOperator("_npi_subtract", "lhs − rhs",
                         OperatorOf<op::BroadcastSub>);
}

MXC_OP(NpiMultiply) {
  return NpMixedOperator("_npi_multiply", "lhs · rhs",
                         OperatorOf<op::BroadcastMul>);
}

MXC_OP(NpiTrueDivide) {
  return NpMixedOperator("_npi_true_divide", "lhs / rhs",
                         OperatorOf<op::BroadcastDiv>, true);
}

}  // namespace mxc
