// SPDX-License-Identifier: Apache-2.0
// _linalg_slogdet: the sign of the determinants of matrices, and the logarithm
// of their absolute values.
//   A  f[…, n, n]     sign, logabsdet  f[…], f[1] for one matrix
// C1  A holds square matrices, of at most kMostUnrolled rows
// MXNet's further outputs, the factors, are not there.
// Gradient: H · A⁻ᵀ, of the logarithm's; the sign has none
#include "ir/ops/tensor/linalg/determinant.h"

namespace mxc {
namespace {

std::vector<Value> SlogdetByElimination(const NoAttrs&, const Node& node,
                                        GraphBuilder& b) {
  const Value diagonal = EliminatedDiagonal(b, node.inputs[0]);
  return {ProductOfPivots(b, b.Sign(diagonal)),
          SumOfPivots(b, b.Log(b.Abs(diagonal)))};
}

std::vector<Value> SlogdetGradient(const NoAttrs&, GradientBuilder& g) {
  if (!g.HasHead(1)) return g.None();
  return {TimesInverseTransposed(g, g.Head(1))};
}

}  // namespace

MXC_OP(LinalgSlogdet) {
  return Op<>("_linalg_slogdet")
      .Alias({"_npi_slogdet", "linalg_slogdet"})
      .Doc("sign and logarithm of the determinants of matrices")
      .Inputs({{"A", InputKind::kData}})
      .Outputs({"sign", "logabsdet"})
      .Types([](const NoAttrs&, TypeInference& t) { DeterminantTypes(t); })
      .FloatsOnly()
      .Decompose(SlogdetByElimination)
      .Gradient(SlogdetGradient);
}

}  // namespace mxc
