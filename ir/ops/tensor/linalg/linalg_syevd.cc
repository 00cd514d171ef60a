// SPDX-License-Identifier: Apache-2.0
// _linalg_syevd: eigenvectors and eigenvalues of symmetric matrices, by
// Jacobi's rotations, unrolled, or LAPACK's if they are large.
//   A  f[…, n, n], of which the lower triangle counts
//   U  f[…, n, n]   the eigenvectors in its rows, the greatest element of each
//                   positive
//   L  f[…, n]      the eigenvalues, ascending; A = Uᵀ · diag(L) · U
// C1  A holds square matrices, of at most 32768 rows
// Gradient: Uᵀ · (diag(L̄) + Y) · U with Y[i, j] = ½ (M[i, j] - M[j, i]) /
//   (L[i] - L[j]), M = Ū · Uᵀ
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/indexing/pick.h"
#include "ir/ops/tensor/indexing/take_along.h"
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/linalg/rotate.h"
#include "ir/ops/tensor/reduction/extremum.h"
#include "ir/ops/tensor/shape/expand_dims.h"
#include "ir/ops/tensor/sort/sort_order.h"
#include "ir/ops/tensor/sort/sort_rank.h"

namespace mxc {
namespace {

// A sweep has a node for each pair of axes.
constexpr int64_t kMostRotated = 16;
// Convergence is quadratic: enough for f64.
constexpr int kSweeps = 8;

void SyevdTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  if (!RequireSquare(t, "C1")) return;
  const Extents& a = t.In(0).dims();
  t.SetOut(1, Shape(Extents(a.begin(), a.end() - 1)));
}

// [Λ | U], in any order.
Value Diagonalized(GraphBuilder& b, Value a) {
  const int rank = a.shape().rank();
  const int64_t n = a.shape()[rank - 1];
  Value both = b.Concat({Mirrored(b, a), Identities(b, a.type())}, rank - 1);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        both = b.Op<op::Rotate>({both}, {.p = p, .q = q});
      }
    }
  }
  return both;
}

// Rows whose element of greatest absolute value, the first of them, is
// positive.
Value WithSigns(GraphBuilder& b, Value rows) {
  const Value greatest = b.Op<op::Argmax>({b.Abs(rows)}, {.axis = -1});
  const Value element =
      b.Op<op::Pick>({rows, greatest}, {.axis = -1, .keepdims = true});
  return b.Mul(rows, b.Sign(element));
}

std::vector<Value> SyevdByRotations(const NoAttrs&, const Node& node,
                                    GraphBuilder& b) {
  const Value a = node.inputs[0];
  const int rank = a.shape().rank();
  const int64_t n = a.shape()[rank - 1];
  if (IsLarge(a, kMostRotated)) {
    return CallOf(b, "syevd", "", {a},
                  {node.types[0].shape, node.types[1].shape});
  }
  const Value both = Diagonalized(b, a);
  const auto half = [&](int64_t begin) {
    return b.SliceAxis(both, rank - 1, begin, begin + n);
  };
  const Value values = b.Op<op::LinalgExtractdiag>({half(0)});
  const int64_t along = rank - 2;
  const Value order = b.Op<op::SortOrder>(
      {b.Op<op::SortRank>({values}, {.axis = along})}, {.axis = along, .k = n});
  const Value rows =
      b.BroadcastTo(b.Op<op::ExpandDims>({order}, {.axis = -1}), a.shape());
  const Value vectors = b.Op<op::TakeAlong>({half(n), rows}, {.axis = along});
  return {WithSigns(b, vectors),
          b.Op<op::TakeAlong>({values, order}, {.axis = along})};
}

std::vector<Value> SyevdGradient(const NoAttrs&, GradientBuilder& g) {
  const Value u = g.Out(0), l = g.Out(1);
  Value inner = g.Op<op::LinalgMakediag>({g.Head(1)});
  if (g.HasHead(0)) {
    const Value m = MatrixProduct(g, g.Head(0), u, false, true);
    const Value difference = g.Sub(g.Op<op::ExpandDims>({l}, {.axis = -1}),
                                   g.Op<op::ExpandDims>({l}, {.axis = -2}));
    // The numerator is 0 on the diagonal.
    const Value apart =
        g.Op<op::ElemwiseAdd>({difference, Identities(g, u.type())});
    const Value turned = g.Op<op::ElemwiseSub>({m, Transposed(g, m)});
    inner = g.Op<op::ElemwiseAdd>({inner, g.Mul(g.Div(turned, apart), 0.5)});
  }
  return {MatrixProduct(g, MatrixProduct(g, u, inner, true, false), u)};
}

}  // namespace

MXC_OP(LinalgSyevd) {
  return Op<>("_linalg_syevd")
      .Alias({"linalg_syevd"})
      .Doc("eigenvectors and eigenvalues of symmetric matrices")
      .Inputs({{"A", InputKind::kData}})
      .Outputs({"output0", "output1"})
      .Types(SyevdTypes)
      .FloatsOnly()
      .Decompose(SyevdByRotations)
      .Gradient(SyevdGradient);
}

}  // namespace mxc
