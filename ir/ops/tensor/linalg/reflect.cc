// SPDX-License-Identifier: Apache-2.0
// _reflect: one step of Householder's factorization by columns; our own
// operator, see linalg_gelqf.cc.
//   data    f[…, r, n]
//   output  data · H, where the reflection H = Hᵀ makes row `row` of data zero
//           behind column `row`, and leaves the columns before alone
// A row that is zero there already is left alone, as LAPACK's dlarfg does; else
// the sign of the element in column `row` changes.
// C1  data have the row and the column
#include "ir/ops/tensor/linalg/reflect.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void ReflectTypes(const ReflectAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.AllSameShape();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  const int rank = in.rank();
  t.Require(rank >= 2 && attrs.row < in[rank - 2] && attrs.row < in[rank - 1],
            "C1: there is no row {} in {}", attrs.row, ToString(in));
}

void ReflectMeaning(const ReflectAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const int64_t columns = def.OutShape()[rank - 1];
  const std::vector<Expr> i = def.Indices();
  const Expr own = attrs.row, row = i[rank - 2], column = i[rank - 1];
  const Expr value = def.In(0, i);
  if (attrs.row + 1 == columns) return def.Set(0, value);
  const auto at = [&](const Expr& r, const Expr& c) {
    std::vector<Expr> index = i;
    index[rank - 2] = r;
    index[rank - 1] = c;
    return def.In(0, index);
  };
  const auto behind = [&](const auto& body) {
    return Definition::ReduceOver(
        ReduceOp::kSum, {own + 1}, {columns},
        [&](const std::vector<Expr>& c) { return body(c[0]); });
  };
  const Expr rest =
      behind([&](const Expr& c) { return at(own, c) * at(own, c); });
  const Expr alpha = at(own, own);
  const Expr norm = Sqrt(alpha * alpha + rest);
  const Expr beta = Select(alpha >= def.Lit(0), -norm, norm);
  // H = 1 - 2 u uᵀ / (u · u) with u = (alpha - beta, the rest).
  const Expr first = alpha - beta;
  const Expr along = at(row, own) * first + behind([&](const Expr& c) {
                       return at(row, c) * at(own, c);
                     });
  const Expr factor = def.Lit(2) * along / (first * first + rest);
  const Expr u = Select(column == own, first, at(own, column));
  const Expr reflected = value - factor * u;
  // Exactly, whatever the rounding.
  const Expr exact =
      Select(row == own, Select(column == own, beta, def.Lit(0)), reflected);
  def.Set(0, Select(rest == def.Lit(0) || column < own, value, exact));
}

}  // namespace

MXC_OP(Reflect) {
  return Op<ReflectAttrs>("_reflect")
      .Internal()
      .Doc("a reflection that makes a row zero")
      .Types(ReflectTypes)
      .Meaning(ReflectMeaning);
}

}  // namespace mxc
