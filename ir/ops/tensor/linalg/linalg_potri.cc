// SPDX-License-Identifier: Apache-2.0
// _linalg_potri: the inverse of matrices whose Cholesky factor is given.
//   A  f[…, n, n]     output  (A · Aᵀ)⁻¹, or (Aᵀ · A)⁻¹ without lower
// Of A only the triangle counts.
// C1  A holds square matrices, of at most 32768 rows
// Gradient, for the lower triangle L with output B: that triangle of
//   -B · (H + Hᵀ) · L⁻ᵀ
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

struct PotriAttrs {
  bool lower = true;

  void Describe(Fields& f) {
    f("lower", lower).Doc("the factor is a lower triangle");
  }
};

std::vector<Value> PotriBySolving(const PotriAttrs& attrs, const Node& node,
                                  GraphBuilder& b) {
  const Value factor = node.inputs[0];
  if (IsLarge(factor)) {
    return CallOf(b, "potri", fmt::format("lower={:d}", attrs.lower), {factor},
                  {factor.shape()});
  }
  const Value inverse = SolveTriangular(b, factor, Identities(b, factor.type()),
                                        {.lower = attrs.lower});
  return {MatrixProduct(b, inverse, inverse, attrs.lower, !attrs.lower)};
}

std::vector<Value> PotriGradient(const PotriAttrs& attrs, GradientBuilder& g) {
  const Value both = g.Op<op::ElemwiseAdd>({g.Head(), Transposed(g, g.Head())});
  const Value product = attrs.lower ? MatrixProduct(g, g.Out(), both)
                                    : MatrixProduct(g, both, g.Out());
  const Value solved = SolveTriangular(
      g, g.In(0), product,
      {.transpose = true, .rightside = attrs.lower, .lower = attrs.lower});
  return {g.Neg(TriangleOnly(g, solved, attrs.lower))};
}

}  // namespace

MXC_OP(LinalgPotri) {
  return Op<PotriAttrs>("_linalg_potri")
      .Alias({"linalg_potri"})
      .Doc("the inverse of matrices given by their Cholesky factor")
      .Inputs({{"A", InputKind::kData}})
      .Types([](const PotriAttrs&, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        RequireSquare(t, "C1");
      })
      .FloatsOnly()
      .Decompose(PotriBySolving)
      .Gradient(PotriGradient);
}

}  // namespace mxc
