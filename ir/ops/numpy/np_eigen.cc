// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_eigen.h"

#include "ir/ops/tensor/factorization.h"

namespace mxc {

bool EigenvalueTypes(TypeInference& t) {
  t.AllSameDType();
  if (!RequireSquare(t, "C1")) return false;
  const Extents& a = t.In(0).dims();
  t.SetOut(0, Shape(Extents(a.begin(), a.end() - 1)));
  return true;
}

std::vector<Value> Eigen(const EigenAttrs& attrs, const Node& node,
                         GraphBuilder& b) {
  const Value a = node.inputs[0];
  const Value lower = attrs.triangle == "L" ? a : Transposed(b, a);
  const std::vector<Value> found = b.Ops<op::LinalgSyevd>({lower});
  return {found[1], Transposed(b, found[0])};
}

}  // namespace mxc
