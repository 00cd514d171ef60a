// SPDX-License-Identifier: Apache-2.0
// _linalg_det: the determinants of matrices.
//   A  f[…, n, n]     output  f[…], f[1] for one matrix
// C1  A holds square matrices, of at most kMostUnrolled rows
// MXNet's further outputs, the factors, are not there.
// Gradient: H · det(A) · A⁻ᵀ
#include "ir/ops/tensor/linalg/determinant.h"

namespace mxc {
namespace {

std::vector<Value> DetByElimination(const NoAttrs&, const Node& node,
                                    GraphBuilder& b) {
  return {ProductOfPivots(b, EliminatedDiagonal(b, node.inputs[0]))};
}

std::vector<Value> DetGradient(const NoAttrs&, GradientBuilder& g) {
  return {TimesInverseTransposed(g, g.Mul(g.Head(), g.Out()))};
}

}  // namespace

MXC_OP(LinalgDet) {
  return Op<>("_linalg_det")
      .Alias({"_npi_det", "linalg_det"})
      .Doc("the determinants of matrices")
      .Inputs({{"A", InputKind::kData}})
      .Types([](const NoAttrs&, TypeInference& t) { DeterminantTypes(t); })
      .FloatsOnly()
      .Decompose(DetByElimination)
      .Gradient(DetGradient);
}

}  // namespace mxc
