// SPDX-License-Identifier: Apache-2.0
// _cholesky_column: one step of Cholesky's factorization; our own operator, see
// factorization.h.
//   A  f[…, n, n], whose columns before `column` hold L, with A = L · Lᵀ
//   output  A with that column of L in place of its own
// Without lower, of transposed matrices.
// C1  A holds square matrices with that column
#include "ir/ops/tensor/linalg/cholesky_column.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void CholeskyColumnTypes(const CholeskyColumnAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.AllSameShape();
  if (!t.In(0).known()) return;
  const Shape& a = t.In(0);
  const int rank = a.rank();
  t.Require(
      rank >= 2 && a[rank - 1] == a[rank - 2] && attrs.column < a[rank - 1],
      "C1: there is no column {} in {}", attrs.column, ToString(a));
}

void CholeskyColumnMeaning(const CholeskyColumnAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const std::vector<Expr> i = def.Indices();
  const Expr own = attrs.column;
  const Expr row = i[attrs.lower ? rank - 2 : rank - 1];
  const Expr column = i[attrs.lower ? rank - 1 : rank - 2];
  const auto at = [&](const Expr& r, const Expr& c) {
    std::vector<Expr> index = i;
    index[rank - 2] = attrs.lower ? r : c;
    index[rank - 1] = attrs.lower ? c : r;
    return def.In(0, index);
  };
  // A[r, column] without the share of the columns before.
  const auto rest = [&](const Expr& r) {
    if (attrs.column == 0) return at(r, own);
    return at(r, own) - Definition::Sum({own}, [&](const std::vector<Expr>& k) {
             return at(r, k[0]) * at(own, k[0]);
           });
  };
  const Expr diagonal = Sqrt(rest(own));
  const Expr below = Select(row == own, diagonal, rest(row) / diagonal);
  const Expr computed = Select(row < own, def.Lit(0), below);
  def.Set(0, Select(column == own, computed, def.In(0, i)));
}

}  // namespace

MXC_OP(CholeskyColumn) {
  return Op<CholeskyColumnAttrs>("_cholesky_column")
      .Internal()
      .Doc("a column of a Cholesky factor")
      .Inputs({{"A", InputKind::kData}})
      .Types(CholeskyColumnTypes)
      .Meaning(CholeskyColumnMeaning);
}

}  // namespace mxc
