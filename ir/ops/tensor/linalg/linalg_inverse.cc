// SPDX-License-Identifier: Apache-2.0
// _linalg_inverse: the inverse of matrices.
//   A  f[…, n, n]     output  A⁻¹
// C1  A holds square matrices, of at most kMostUnrolled rows
// Gradient: -A⁻ᵀ · H · A⁻ᵀ
#include "ir/ops/tensor/linalg/factorization.h"

namespace mxc {
namespace {

std::vector<Value> InverseByElimination(const NoAttrs&, const Node& node,
                                        GraphBuilder& b) {
  const Value a = node.inputs[0];
  return {SolveByElimination(b, a, Identities(b, a.type()))};
}

std::vector<Value> InverseGradient(const NoAttrs&, GradientBuilder& g) {
  const Value left = MatrixProduct(g, g.Out(), g.Head(), true, false);
  return {g.Neg(MatrixProduct(g, left, g.Out(), false, true))};
}

}  // namespace

MXC_OP(LinalgInverse) {
  return Op<>("_linalg_inverse")
      .Alias({"_npi_inv", "linalg_inverse"})
      .Doc("the inverse of matrices")
      .Inputs({{"A", InputKind::kData}})
      .Types([](const NoAttrs&, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        RequireSquare(t, "C1", 0, kMostUnrolled);
      })
      .FloatsOnly()
      .Decompose(InverseByElimination)
      .Gradient(InverseGradient);
}

}  // namespace mxc
