// SPDX-License-Identifier: Apache-2.0
// _linalg_trmm: alpha · op(A) · B, or alpha · B · op(A) with rightside, where
// of A only the triangle counts.
//   A  t[…, n, n]     B, output  t[…, n, m], or t[…, m, n] with rightside
// C1  A and B have one rank, at least 2, and equal leading extents
// C2  A is square, of the extent of B along which they are multiplied
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/linalg/gemm.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

void TrmmTypes(const TriangularAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(1));
  t.SetIn(1, t.Out(0));
  const Shape &a = t.In(0), &b = t.In(1);
  if (!a.known() || !b.known()) return;
  if (!t.Require(SameBatch(a, b), "C1: A has shape {} and B {}", ToString(a),
                 ToString(b))) {
    return;
  }
  const int rank = a.rank();
  const int64_t n = b[attrs.rightside ? rank - 1 : rank - 2];
  t.Require(a[rank - 2] == n && a[rank - 1] == n,
            "C2: A has shape {}, expected matrices of {} x {}", ToString(a), n,
            n);
}

void TrmmMeaning(const TriangularAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const std::vector<Expr> i = def.Indices();
  const auto at = [&](int input, const Expr& row, const Expr& column) {
    std::vector<Expr> index = i;
    index[rank - 2] = row;
    index[rank - 1] = column;
    return def.In(input, index);
  };
  const auto triangle = [&](Expr row, Expr column) {
    if (attrs.transpose) std::swap(row, column);
    const Expr inside = attrs.lower ? column <= row : row <= column;
    return Select(inside, at(0, row, column), def.Lit(0));
  };
  const Expr row = i[rank - 2], column = i[rank - 1];
  const Expr product =
      SumOfProducts(def.InShape(0)[rank - 1], [&](const Expr& k) {
        return attrs.rightside ? std::pair(at(1, row, k), triangle(k, column))
                               : std::pair(triangle(row, k), at(1, k, column));
      });
  def.Set(0, product * Lit(attrs.alpha, product));
}

// With T the triangle of A: B has the gradient alpha · op(T)ᵀ · H, T that of an
// ordinary product, the rest of A none.
std::vector<Value> TrmmGradient(const TriangularAttrs& attrs,
                                GradientBuilder& g) {
  const Value head = Scaled(g, g.Head(), attrs.alpha, "alpha");
  std::vector<Value> gradients = g.None();
  if (g.Needs(1)) {
    gradients[1] =
        g.Op<op::LinalgTrmm>({g.In(0), head}, {{.transpose = !attrs.transpose,
                                                .rightside = attrs.rightside,
                                                .lower = attrs.lower}});
  }
  if (!g.Needs(0)) return gradients;
  // op(T): H · Bᵀ, or Bᵀ · H on the right side; T: the same transposed.
  const bool head_first = attrs.rightside == attrs.transpose;
  const Value whole =
      MatrixProduct(g, head_first ? head : g.In(1), head_first ? g.In(1) : head,
                    attrs.rightside, !attrs.rightside);
  gradients[0] = TriangleOnly(g, whole, attrs.lower);
  return gradients;
}

}  // namespace

MXC_OP(LinalgTrmm) {
  return Op<TriangularAttrs>("_linalg_trmm")
      .Alias({"linalg_trmm"})
      .Doc("the product of a triangular matrix and a matrix")
      .Inputs({{"A", InputKind::kData}, {"B", InputKind::kData}})
      .Types(TrmmTypes)
      .FloatsOnly()
      .Meaning(TrmmMeaning)
      .Gradient(TrmmGradient);
}

}  // namespace mxc
