// SPDX-License-Identifier: Apache-2.0
// _npi_lcm_scalar: the least common multiple of integers and a number, of which
// the fraction is dropped.
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

std::vector<Value> LcmScalarParts(const ScalarAttrs& a, const Node& node,
                                  GraphBuilder& b) {
  const TensorType& type = node.types[0];
  const Value number = b.Cast(b.Scalar(a.scalar, DType::kF64), type.dtype);
  return {b.Reshape(b.Op<op::NpiLcm>({node.inputs[0], number}), type.shape)};
}

}  // namespace

MXC_OP(NpiLcmScalar) {
  return Op<ScalarAttrs>("_npi_lcm_scalar")
      .Doc("the least common multiple of integers and a number")
      .Types([](const auto&, TypeInference& t) { SameTypes(t); })
      .IntegersOnly()
      .Decompose(LcmScalarParts)
      .ZeroGradient();
}

}  // namespace mxc
