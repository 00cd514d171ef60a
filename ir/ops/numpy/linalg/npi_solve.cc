// SPDX-License-Identifier: Apache-2.0
// _npi_solve: the solution X of A · X = B.
//   A  f[…, n, n], n ≤ 64     B, X  f[…, n, m], or f[…, n]
// C1  A holds square matrices, of at most kMostUnrolled rows
// C2  B has the leading extents of A, and n rows
// Gradient: B̄ = A⁻ᵀ · X̄, Ā = −B̄ · Xᵀ
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/shape/expand_dims.h"

namespace mxc {
namespace {

void NpiSolveTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(1));
  t.SetIn(1, t.Out(0));
  if (!RequireSquare(t, "C1", 0, kMostUnrolled) || !t.In(1).known()) return;
  Extents rows = t.In(0).dims();
  rows.pop_back();
  Extents given = t.In(1).dims();
  if (given.size() > rows.size()) given.pop_back();
  t.Require(given == rows, "C2: A has shape {}, B {}", ToString(t.In(0)),
            ToString(t.In(1)));
}

// A tensor of the right side as matrices; vectors are their columns.
Value SolveColumns(GraphBuilder& b, Value a, Value right) {
  if (right.shape().rank() == a.shape().rank()) return right;
  return b.Op<op::ExpandDims>({right}, {.axis = -1});
}

std::vector<Value> NpiSolveByElimination(const NoAttrs&, const Node& node,
                                         GraphBuilder& b) {
  const Value a = node.inputs[0];
  const Value solved =
      SolveByElimination(b, a, SolveColumns(b, a, node.inputs[1]));
  return {b.Reshape(solved, node.types[0].shape)};
}

std::vector<Value> NpiSolveGradient(const NoAttrs&, GradientBuilder& g) {
  const Value a = g.In(0);
  const Value right = g.Op<op::NpiSolve>({Transposed(g, a), g.Head()});
  const Value left = MatrixProduct(g, SolveColumns(g, a, right),
                                   SolveColumns(g, a, g.Out()), false, true);
  return {g.Neg(left), right};
}

}  // namespace

MXC_OP(NpiSolve) {
  return Op<>("_npi_solve")
      .Doc("numpy.linalg.solve")
      .Inputs({{"A", InputKind::kData}, {"B", InputKind::kData}})
      .Types(NpiSolveTypes)
      .FloatsOnly()
      .Decompose(NpiSolveByElimination)
      .Gradient(NpiSolveGradient);
}

}  // namespace mxc
