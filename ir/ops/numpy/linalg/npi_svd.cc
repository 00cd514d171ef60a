// SPDX-License-Identifier: Apache-2.0
// _npi_svd: A = U · diag(L) · V.
//   A  f[…, m, n], m ≤ n ≤ 512
//   U  f[…, m, m]     L  f[…, m], descending     V  f[…, m, n]
// C1  A holds matrices of at most 512 rows, no taller than wide
// Gradient: U · P · V + U · diag(L)⁻¹ · (V̄ − N · V), with M = Uᵀ · Ū, N = V̄ · Vᵀ,
//   E[i, j] = 1 / (L[j]² − L[i]²), 0 on the diagonal, and
//   P = diag(L̄) + ((M − Mᵀ) ∘ E) · diag(L) − diag(L) · ((N − Nᵀ) ∘ E)
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/shape/expand_dims.h"

namespace mxc {
namespace {

void NpiSvdTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(2, t.In(0));
  const Shape& a = t.In(0);
  if (!a.known()) return;
  const int rank = a.rank();
  if (!t.Require(rank >= 2 && a[rank - 2] <= a[rank - 1] &&
                     a[rank - 2] <= kMostTurnedRows,
                 "C1: A has shape {}, expected matrices of at most {} rows, no "
                 "taller than wide",
                 ToString(a), kMostTurnedRows)) {
    return;
  }
  Shape square = a;
  square[rank - 1] = a[rank - 2];
  t.SetOut(0, square);
  t.SetOut(1, Shape(Extents(a.dims().begin(), a.dims().end() - 1)));
}

std::vector<Value> NpiSvdByRotations(const NoAttrs&, const Node& node,
                                     GraphBuilder& b) {
  const Value a = node.inputs[0];
  const int rank = a.shape().rank();
  const int64_t rows = a.shape()[rank - 2], columns = a.shape()[rank - 1];
  const Shape flat = {a.shape().elements() / (rows * columns), rows, columns};
  std::vector<Value> found = b.Ops<op::OneSidedJacobi>({b.Reshape(a, flat)});
  for (size_t i = 0; i < found.size(); ++i) {
    found[i] = b.Reshape(found[i], node.types[i].shape);
  }
  return found;
}

// 1 / (L[j]² − L[i]²), and 0 on the diagonal.
Value InverseGaps(GraphBuilder& b, Value values, const TensorType& square) {
  const Value squares = b.Square(values);
  const Value gaps = b.Sub(b.Op<op::ExpandDims>({squares}, {.axis = -2}),
                           b.Op<op::ExpandDims>({squares}, {.axis = -1}));
  const Value one = Identities(b, square);
  return b.Sub(b.Div(1, b.Add(gaps, one)), one);
}

std::vector<Value> NpiSvdGradient(const NoAttrs&, GradientBuilder& g) {
  const Value u = g.Out(0), values = g.Out(1), v = g.Out(2);
  const auto turned = [&](Value m) { return g.Sub(m, Transposed(g, m)); };
  const Value rows = g.Op<op::ExpandDims>({values}, {.axis = -1});
  const Value columns = g.Op<op::ExpandDims>({values}, {.axis = -2});
  const Value gaps = InverseGaps(g, values, u.type());
  const Value m = MatrixProduct(g, u, g.Head(0), true, false);
  const Value n = MatrixProduct(g, g.Head(2), v, false, true);
  const Value left = g.Mul(g.Mul(turned(m), gaps), columns);
  const Value right = g.Mul(g.Mul(turned(n), gaps), rows);
  const Value p =
      g.Sub(g.Add(g.Op<op::LinalgMakediag>({g.Head(1)}), left), right);
  const Value beside = g.Div(g.Sub(g.Head(2), MatrixProduct(g, n, v)), rows);
  const Value inner = g.Add(MatrixProduct(g, p, v), beside);
  return {MatrixProduct(g, u, inner)};
}

}  // namespace

MXC_OP(NpiSvd) {
  return Op<>("_npi_svd")
      .Doc("numpy.linalg.svd")
      .Inputs({{"A", InputKind::kData}})
      .Outputs({"U", "L", "V"})
      .Types(NpiSvdTypes)
      .FloatsOnly()
      .Decompose(NpiSvdByRotations)
      .Gradient(NpiSvdGradient);
}

}  // namespace mxc
