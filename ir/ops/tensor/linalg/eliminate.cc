// SPDX-License-Identifier: Apache-2.0
// _eliminate: one step of Gauss and Jordan's elimination; our own operator, see
// factorization.h.
//   data   f[…, n, m]
//   pivot  i32[…, 1]   p, a row from `row` on
//   output  data whose rows `row` and p are exchanged, the former negated if
//           they differ, so that determinants stay; then a multiple of row
//           `row` is taken from every other one, so that its column `row` is 0;
//           with passes_zeros nothing is taken where the pivot is 0
// C1  data have the row and the column, pivot an entry for each matrix
#include "ir/ops/tensor/linalg/eliminate.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void EliminateTypes(const EliminateAttrs& attrs, TypeInference& t) {
  t.SetInDType(1, DType::kI32);
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  const Shape &in = t.In(0), &pivot = t.In(1);
  if (!in.known()) return;
  const int rank = in.rank();
  Extents expected(in.dims().begin(), in.dims().end() - (rank > 0));
  if (!expected.empty()) expected.back() = 1;
  t.Require(rank >= 2 && attrs.row < in[rank - 2] && attrs.row < in[rank - 1] &&
                (!pivot.known() || pivot == Shape(expected)),
            "C1: row {} and pivots {} for {}", attrs.row, ToString(pivot),
            ToString(in));
}

void EliminateMeaning(const EliminateAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const std::vector<Expr> i = def.Indices();
  const Expr row = i[rank - 2], own = attrs.row;
  std::vector<Expr> matrix(i.begin(), i.end() - 1);
  matrix.back() = 0;
  const Expr found = Cast(def.In(1, matrix), DType::kI64);
  const Expr p = Max(Min(found, def.OutShape()[rank - 2] - 1), own);
  const auto at = [&](const Expr& r, const Expr& c) {
    std::vector<Expr> index = i;
    index[rank - 2] = r;
    index[rank - 1] = c;
    return def.In(0, index);
  };
  const auto pivot_row = [&](const Expr& c) {
    const Expr value = at(p, c);
    return Select(p == own, value, -value);
  };
  const Expr source = Select(row == p, own, row);
  const Expr column = i[rank - 1];
  Expr factor = at(source, own) / pivot_row(own);
  if (attrs.passes_zeros) {
    factor = Select(pivot_row(own) == def.Lit(0), def.Lit(0), factor);
  }
  const Expr rest = at(source, column) - factor * pivot_row(column);
  // Exactly, whatever the rounding.
  const Expr other = Select(column == own, def.Lit(0), rest);
  def.Set(0, Select(row == own, pivot_row(column), other));
}

}  // namespace

MXC_OP(Eliminate) {
  return Op<EliminateAttrs>("_eliminate")
      .Internal()
      .Doc("a row taken from the others")
      .Inputs({{"data", InputKind::kData}, {"pivot", InputKind::kData}})
      .Types(EliminateTypes)
      .Meaning(EliminateMeaning);
}

}  // namespace mxc
