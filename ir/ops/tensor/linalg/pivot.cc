// SPDX-License-Identifier: Apache-2.0
// _pivot: the row, at or below `row`, with the greatest absolute value in
// column `row`, the first of them; our own operator, see factorization.h.
//   data  f[…, n, m]     output  i32[…, 1]
// C1  data have the row and the column
#include "ir/ops/tensor/linalg/pivot.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void PivotTypes(const PivotAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kI32);
  const Shape& in = t.In(0);
  if (!in.known()) return;
  const int rank = in.rank();
  if (!t.Require(
          rank >= 2 && attrs.row < in[rank - 2] && attrs.row < in[rank - 1],
          "C1: there is no row {} in {}", attrs.row, ToString(in))) {
    return;
  }
  Extents dims(in.dims().begin(), in.dims().end() - 1);
  dims.back() = 1;
  t.SetOut(0, Shape(dims));
}

void PivotMeaning(const PivotAttrs& attrs, Definition& def) {
  const int rank = def.InShape(0).rank();
  const int64_t rows = def.InShape(0)[rank - 2];
  std::vector<Expr> index = def.Indices();
  index.resize(rank);
  index[rank - 1] = attrs.row;
  const auto size = [&](const Expr& row) {
    index[rank - 2] = row;
    return Abs(def.In(0, index));
  };
  const auto over = [&](ReduceOp op, const Definition::Body& body) {
    return Definition::ReduceOver(op, {attrs.row}, {rows}, body);
  };
  const Expr greatest =
      over(ReduceOp::kMax, [&](const auto& r) { return size(r[0]); });
  // Among NaN there is no greatest.
  const Expr first = over(ReduceOp::kMin, [&](const auto& r) {
    return Select(size(r[0]) == greatest, r[0], rows);
  });
  def.Set(0, Select(first == Expr(rows), attrs.row, first));
}

}  // namespace

MXC_OP(Pivot) {
  return Op<PivotAttrs>("_pivot")
      .Internal()
      .Doc("the row that elimination goes on with")
      .Types(PivotTypes)
      .Meaning(PivotMeaning);
}

}  // namespace mxc
