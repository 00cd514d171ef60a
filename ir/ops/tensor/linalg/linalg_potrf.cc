// SPDX-License-Identifier: Apache-2.0
// _linalg_potrf: the Cholesky factor of symmetric positive definite matrices.
//   A  f[…, n, n]
//   output  the lower triangle L with A = L · Lᵀ, or the upper one U with
//           A = Uᵀ · U
// C1  A holds square matrices, of at most 32768 rows
// A matrix that is not positive definite: NaN, up to 64 rows, which code of the
// network's own decomposes; larger ones end the run (LAPACK), as in MXNet
// Gradient: I. Murray, Differentiation of the Cholesky decomposition; for L
//   ½ L⁻ᵀ · P · L⁻¹, where P has the lower triangle of Lᵀ · H twice, mirrored
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/linalg/cholesky_column.h"
#include "ir/ops/tensor/linalg/factorization.h"

namespace mxc {
namespace {

struct PotrfAttrs {
  bool lower = true;

  void Describe(Fields& f) {
    f("lower", lower).Doc("the factor is a lower triangle");
  }
};

std::vector<Value> PotrfByColumns(const PotrfAttrs& attrs, const Node& node,
                                  GraphBuilder& b) {
  Value a = node.inputs[0];
  if (IsLarge(a)) {
    return CallOf(b, "potrf", fmt::format("lower={:d}", attrs.lower), {a},
                  {a.shape()});
  }
  const int64_t columns = a.shape().dims().back();
  for (int64_t k = 0; k < columns; ++k) {
    a = b.Op<op::CholeskyColumn>({a}, {.column = k, .lower = attrs.lower});
  }
  return {a};
}

std::vector<Value> PotrfGradient(const PotrfAttrs& attrs, GradientBuilder& g) {
  const Value factor = g.Out();
  const Value inner = attrs.lower
                          ? MatrixProduct(g, factor, g.Head(), true, false)
                          : MatrixProduct(g, factor, g.Head(), false, true);
  const Value left = SolveTriangular(
      g, factor, Mirrored(g, inner),
      {.transpose = attrs.lower, .rightside = false, .lower = attrs.lower});
  const Value both = SolveTriangular(
      g, factor, left,
      {.transpose = !attrs.lower, .rightside = true, .lower = attrs.lower});
  return {g.Mul(both, 0.5)};
}

}  // namespace

MXC_OP(LinalgPotrf) {
  return Op<PotrfAttrs>("_linalg_potrf")
      .Alias({"linalg_potrf"})
      .Doc("the Cholesky factor of matrices")
      .Inputs({{"A", InputKind::kData}})
      .Types([](const PotrfAttrs&, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        RequireSquare(t, "C1");
      })
      .FloatsOnly()
      .Decompose(PotrfByColumns)
      .Gradient(PotrfGradient);
}

}  // namespace mxc
