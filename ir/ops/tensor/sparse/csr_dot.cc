// SPDX-License-Identifier: Apache-2.0
// _csr_dot: a matrix of which few elements are not zero, times a dense one.
//   indices  i32[N, K]   columns of the matrix, -1 for none
//   values   t[N, K]     0 there
//   rhs      t[F, J]
//   output   t[N, J]     Σ_k values[n, k] · rhs[indices[n, k], j]
// The gradient of rhs has the rows that the indices name: _csr_scatter.
// C1  indices and values have one shape of two axes
// C2  rhs has two axes
#include "ir/ops/tensor/sparse/csr_dot.h"

#include "ir/ops/op.h"
#include "ir/ops/tensor/control/map.h"
#include "ir/ops/tensor/linalg/products.h"

namespace mxc {
namespace {

void CsrDotTypes(const NoAttrs&, TypeInference& t) {
  if (CsrOperandTypes(t)) t.SetOut(0, {t.In(0)[0], t.In(2)[1]});
}

Expr RowOf(const Expr& index, int64_t rows) {
  return Max(Min(Cast(index, DType::kI64), rows - 1), 0);
}

// `element` where the index is a column, else 0.
Expr IfColumn(const Expr& index, int64_t columns, const Expr& element) {
  const Expr column = Cast(index, DType::kI64);
  return Select(Expr(0) <= column && column < Expr(columns), element,
                Lit(0, element));
}

void CsrDotMeaning(const NoAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t rows = def.InShape(2)[0];
  def.Set(0, SumOfProducts(def.InShape(0)[1], [&](const Expr& k) {
            const Expr index = def.In(0, {i[0], k});
            const Expr element = def.In(2, {RowOf(index, rows), i[1]});
            return std::pair(def.In(1, {i[0], k}),
                             IfColumn(index, rows, element));
          }));
}

std::vector<Value> CsrDotGradient(const NoAttrs&, GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  const CsrForm matrix = {g.In(0), g.In(1), g.In(2).shape()[0]};
  if (g.Needs(1)) {
    gradients[1] = CsrElementsOf(g, matrix.indices, g.Head(), g.In(2));
  }
  if (g.Needs(2)) gradients[2] = CsrScatterOf(g, matrix, g.Head());
  return gradients;
}

}  // namespace

bool CsrOperandTypes(TypeInference& t) {
  t.SetOutDType(0, t.InDType(1));
  t.SetInDType(2, t.InDType(1));
  const Shape &indices = t.In(0), &rhs = t.In(2);
  if (!indices.known_rank() || !rhs.known_rank()) return false;
  if (!t.Require(
          indices.rank() == 2 && (!t.In(1).known() || t.In(1) == indices),
          "C1: indices has shape {}, values {}", ToString(indices),
          ToString(t.In(1))) ||
      !t.Require(rhs.rank() == 2, "C2: rhs has {} axes, expected 2",
                 rhs.rank())) {
    return false;
  }
  t.SetIn(1, indices);
  return true;
}

Value CsrDotOf(GraphBuilder& b, const CsrForm& matrix, Value rhs) {
  return b.Op<op::CsrDot>({matrix.indices, matrix.values, rhs});
}

Value CsrScatterOf(GraphBuilder& b, const CsrForm& matrix, Value rhs) {
  return b.Op<op::CsrScatter>({matrix.indices, matrix.values, rhs},
                              {.columns = matrix.columns});
}

Value CsrElementsOf(GraphBuilder& b, Value indices, Value left, Value right) {
  const Value operands[] = {indices, left, right};
  const DType dtype = left.type().dtype, sum_type = AccumulateType(dtype);
  const Expr index = Load(0, DType::kI32, {Var(0), Var(1)});
  const Range range = {FreshReductionVar(), Expr(0), Expr(left.shape()[1])};
  const Expr j = Var(range.var);
  const int64_t rows = right.shape()[0];
  const Expr row = RowOf(index, rows);
  const Expr product = Cast(Load(1, dtype, {Var(0), j}), sum_type) *
                       Cast(Load(2, dtype, {row, j}), sum_type);
  const Expr sum = Reduce(ReduceOp::kSum, {range}, product);
  const MapOutput output = {{dtype, indices.shape()},
                            IfColumn(index, rows, sum)};
  return MapOf(b, operands, {&output, 1}, "elements")[0];
}

MXC_OP(CsrDot) {
  return Op<NoAttrs>("_csr_dot")
      .Internal()
      .Doc("the product of a matrix with few elements and a dense one")
      .Inputs({{"indices"}, {"values"}, {"rhs"}})
      .Types(CsrDotTypes)
      .Meaning(CsrDotMeaning)
      .Gradient(CsrDotGradient);
}

}  // namespace mxc
