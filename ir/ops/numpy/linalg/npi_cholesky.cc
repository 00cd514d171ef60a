// SPDX-License-Identifier: Apache-2.0
// _npi_cholesky: the lower triangle L of A = L · Lᵀ.
// C1  A holds square matrices (factorization.h)
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void NpiCholeskyTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.AllSameShape();
  RequireSquare(t, "C1");
}

std::vector<Value> NpiCholeskyParts(const NoAttrs&, const Node& node,
                                    GraphBuilder& b) {
  return {b.Op<op::LinalgPotrf>(node.inputs)};
}

}  // namespace

MXC_OP(NpiCholesky) {
  return Op<>("_npi_cholesky")
      .Doc("numpy.linalg.cholesky")
      .Inputs({{"A", InputKind::kData}})
      .Types(NpiCholeskyTypes)
      .FloatsOnly()
      .Decompose(NpiCholeskyParts);
}

}  // namespace mxc
