// SPDX-License-Identifier: Apache-2.0
// _csr_scatter: the transpose of a matrix of which few elements are not zero,
// times a dense one.
//   indices  i32[N, K]   columns of the matrix, -1 for none
//   values   t[N, K]     0 there
//   rhs      t[N, J]
//   output   t[columns, J]
//            Σ_n,k select(indices[n, k] = c, values[n, k] · rhs[n, j], 0)
// A ScatterSum (ir/program/scatter_sum.h), of which an optimizer that is lazy
// takes the rows that are named.
// C1  indices and values have one shape of two axes
// C2  rhs has two axes, and as many rows
#include "ir/ops/op.h"
#include "ir/ops/tensor/control/map.h"
#include "ir/ops/tensor/sparse/csr_dot.h"

namespace mxc {
namespace {

void CsrScatterTypes(const CsrScatterAttrs& a, TypeInference& t) {
  if (!CsrOperandTypes(t)) return;
  const Shape &indices = t.In(0), &rhs = t.In(2);
  const bool fits = !rhs.known(0) || !indices.known(0) || rhs[0] == indices[0];
  if (t.Require(fits, "C2: rhs has {} rows, expected {}, as indices has",
                rhs[0], indices[0])) {
    t.SetOut(0, {a.columns, rhs[1]});
  }
}

void CsrScatterMeaning(const CsrScatterAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& indices = def.InShape(0);
  def.Set(0, Definition::Sum({Expr(indices[0]), Expr(indices[1])},
                             [&](const std::vector<Expr>& r) {
                               const Expr here =
                                   Cast(def.In(0, r), DType::kI64) == i[0];
                               const Expr product =
                                   def.In(1, r) * def.In(2, {r[0], i[1]});
                               return Select(here, product, Lit(0, product));
                             }));
}

std::vector<Value> CsrScatterGradient(const CsrScatterAttrs& a,
                                      GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  const CsrForm matrix = {g.In(0), g.In(1), a.columns};
  if (g.Needs(1)) {
    gradients[1] = CsrElementsOf(g, matrix.indices, g.In(2), g.Head());
  }
  if (g.Needs(2)) gradients[2] = CsrDotOf(g, matrix, g.Head());
  return gradients;
}

// A row for each element of the matrix.
RowForm CsrScatterRows(const CsrScatterAttrs& a, const Node& node,
                       std::span<const RowForm>, GraphBuilder& b) {
  const Value indices = node.inputs[0];
  const Shape& shape = indices.shape();
  const int64_t elements = shape.elements(), width = shape[1];
  const Value numbers =
      b.Cast(b.Reshape(indices, Shape{elements}), RowNumberType(a.columns));
  const Value operands[] = {node.inputs[1], node.inputs[2]};
  const DType dtype = node.types[0].dtype, computing = AccumulateType(dtype);
  const Expr n = Var(0) / Expr(width), k = Var(0) % Expr(width);
  const MapOutput output = {{dtype, Shape{elements, node.types[0].shape[1]}},
                            Cast(Load(0, dtype, {n, k}), computing) *
                                Cast(Load(1, dtype, {n, Var(1)}), computing)};
  return {numbers, MapOf(b, operands, {&output, 1}, "rows")[0]};
}

}  // namespace

MXC_OP(CsrScatter) {
  return Op<CsrScatterAttrs>("_csr_scatter")
      .Internal()
      .Doc(
          "the product of the transpose of a matrix with few elements and a "
          "dense one")
      .Inputs({{"indices"}, {"values"}, {"rhs"}})
      .Types(CsrScatterTypes)
      .Meaning(CsrScatterMeaning)
      .Gradient(CsrScatterGradient)
      .AsRows(CsrScatterRows);
}

}  // namespace mxc
