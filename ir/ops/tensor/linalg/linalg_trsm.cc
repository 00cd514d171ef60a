// SPDX-License-Identifier: Apache-2.0
// _linalg_trsm: the solution X of op(A) · X = alpha · B, or X · op(A) = alpha ·
// B with rightside, where of A only the triangle counts.
//   A  f[…, n, n]     B, output  f[…, n, m], or f[…, m, n] with rightside
// C1  A holds square matrices, of at most 32768 rows
// C2  B has matrices of that extent, and the leading extents of A
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/linalg/gemm.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

void TrsmTypes(const TriangularAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(1));
  t.SetIn(1, t.Out(0));
  if (!RequireSquare(t, "C1") || !t.In(1).known()) return;
  const Shape &a = t.In(0), &b = t.In(1);
  const int rank = a.rank();
  const bool fits = SameBatch(a, b) &&
                    b[attrs.rightside ? rank - 1 : rank - 2] == a[rank - 1];
  t.Require(fits, "C2: A has shape {} and B {}", ToString(a), ToString(b));
}

std::vector<Value> TrsmBySubstitution(const TriangularAttrs& attrs,
                                      const Node& node, GraphBuilder& b) {
  return {SolveTriangular(b, node.inputs[0],
                          Scaled(b, node.inputs[1], attrs.alpha, "alpha"),
                          attrs)};
}

// With G = op(A)⁻ᵀ · H: B has alpha · G, the triangle of A that of -G · Xᵀ; on
// the right side mirrored.
std::vector<Value> TrsmGradient(const TriangularAttrs& attrs,
                                GradientBuilder& g) {
  const Value solved = SolveTriangular(
      g, g.In(0), g.Head(), {!attrs.transpose, attrs.rightside, attrs.lower});
  std::vector<Value> gradients = g.None();
  if (g.Needs(1)) gradients[1] = Scaled(g, solved, attrs.alpha, "alpha");
  if (!g.Needs(0)) return gradients;
  const bool solved_first = attrs.rightside == attrs.transpose;
  const Value whole = MatrixProduct(g, solved_first ? solved : g.Out(),
                                    solved_first ? g.Out() : solved,
                                    attrs.rightside, !attrs.rightside);
  gradients[0] = g.Neg(TriangleOnly(g, whole, attrs.lower));
  return gradients;
}

}  // namespace

MXC_OP(LinalgTrsm) {
  return Op<TriangularAttrs>("_linalg_trsm")
      .Alias({"linalg_trsm"})
      .Doc("the solution of triangular systems")
      .Inputs({{"A", InputKind::kData}, {"B", InputKind::kData}})
      .Types(TrsmTypes)
      .FloatsOnly()
      .Decompose(TrsmBySubstitution)
      .Gradient(TrsmGradient);
}

}  // namespace mxc
