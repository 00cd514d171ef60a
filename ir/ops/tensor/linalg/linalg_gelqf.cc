// SPDX-License-Identifier: Apache-2.0
// _linalg_gelqf: matrices as products of a lower triangle and orthonormal rows,
// by Householder's reflections, with LAPACK's signs.
//   A  f[…, m, n], m ≤ n     Q  f[…, m, n]     L  f[…, m, m], A = L · Q
// C1  A holds matrices of m ≤ n rows, at most 32768
// Gradient (M. Seeger et al., Auto-differentiating linear algebra):
//   L⁻ᵀ · (Q̄ + P · Q), where P has the lower triangle of Lᵀ · L̄ - Q̄ · Qᵀ twice,
//   mirrored
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/linalg/reflect.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

void GelqfTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& a = t.In(0);
  const int rank = a.rank();
  if (!t.Require(
          rank >= 2 && a[rank - 2] <= a[rank - 1] && a[rank - 2] <= kMostRows,
          "C1: A has shape {}, expected matrices of no more rows than "
          "columns, and at most {}",
          ToString(a), kMostRows)) {
    return;
  }
  Shape square = a;
  square[rank - 1] = a[rank - 2];
  t.SetOut(0, a);
  t.SetOut(1, square);
}

// Reflections turn A into L and zeros; those of the unit matrix below it, one
// after the other, hold Qᵀ in their first m columns.
std::vector<Value> GelqfByReflections(const NoAttrs&, const Node& node,
                                      GraphBuilder& b) {
  const Value a = node.inputs[0];
  const int rank = a.shape().rank();
  const int64_t m = a.shape()[rank - 2], n = a.shape()[rank - 1];
  Shape square = a.shape();
  if (IsLarge(a)) {
    square[rank - 1] = m;
    return CallOf(b, "gelqf", "", {a}, {a.shape(), square});
  }
  square[rank - 2] = n;
  Value both = b.Concat({a, Identities(b, {a.type().dtype, square})}, rank - 2);
  for (int64_t k = 0; k < m; ++k) {
    both = b.Op<op::Reflect>({both}, {.row = k});
  }
  const Value columns = b.SliceAxis(both, rank - 1, 0, m);
  const Value lower =
      TriangleOnly(b, b.SliceAxis(columns, rank - 2, 0, m), true);
  return {Transposed(b, b.SliceAxis(columns, rank - 2, m, m + n)), lower};
}

std::vector<Value> GelqfGradient(const NoAttrs&, GradientBuilder& g) {
  const Value q = g.Out(0), l = g.Out(1);
  const Value head = g.Head(0);
  const Value inner =
      g.Op<op::ElemwiseSub>({MatrixProduct(g, l, g.Head(1), true, false),
                             MatrixProduct(g, head, q, false, true)});
  const Value sum =
      g.Op<op::ElemwiseAdd>({head, MatrixProduct(g, Mirrored(g, inner), q)});
  return {SolveTriangular(g, l, sum, {.transpose = true})};
}

}  // namespace

MXC_OP(LinalgGelqf) {
  return Op<>("_linalg_gelqf")
      .Alias({"linalg_gelqf"})
      .Doc("matrices as triangles times orthonormal rows")
      .Inputs({{"A", InputKind::kData}})
      .Outputs({"output0", "output1"})
      .Types(GelqfTypes)
      .FloatsOnly()
      .Decompose(GelqfByReflections)
      .Gradient(GelqfGradient);
}

}  // namespace mxc
