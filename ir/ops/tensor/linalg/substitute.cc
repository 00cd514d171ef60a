// SPDX-License-Identifier: Apache-2.0
// _substitute: one step of the solution of M · X = B, where M is a triangle of
// A or of its transpose; our own operator, see factorization.h.
//   A  f[…, n, n]   X  f[…, n, m], or f[…, m, n] with rightside
//   output  X with row `row` (column, with rightside) of B replaced by the
//           solution's; rows before it (behind it, unless forward) hold theirs
// C1  A and X fit together, and have the row
#include "ir/ops/tensor/linalg/substitute.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

void SubstituteTypes(const SubstituteAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(1));
  t.SetIn(1, t.Out(0));
  const Shape &a = t.In(0), &x = t.In(1);
  if (!a.known() || !x.known()) return;
  const int rank = a.rank();
  const bool fits = SameBatch(a, x) && a[rank - 1] == a[rank - 2] &&
                    x[attrs.rightside ? rank - 1 : rank - 2] == a[rank - 1] &&
                    attrs.row < a[rank - 1];
  t.Require(fits, "C1: row {} of A {} and X {}", attrs.row, ToString(a),
            ToString(x));
}

void SubstituteMeaning(const SubstituteAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const int64_t rows = def.InShape(0)[rank - 1];
  const std::vector<Expr> i = def.Indices();
  const auto element = [&](int input, Expr row, Expr column, bool swapped) {
    std::vector<Expr> index = i;
    index[rank - 2] = swapped ? column : row;
    index[rank - 1] = swapped ? row : column;
    return def.In(input, index);
  };
  const Expr column = i[attrs.rightside ? rank - 2 : rank - 1];
  const Expr row = i[attrs.rightside ? rank - 1 : rank - 2];
  const auto m = [&](Expr at) {
    return element(0, attrs.row, at, attrs.transpose);
  };
  const auto x = [&](Expr at) {
    return element(1, at, column, attrs.rightside);
  };
  Expr rest = x(attrs.row);
  const int64_t begin = attrs.forward ? 0 : attrs.row + 1;
  const int64_t end = attrs.forward ? attrs.row : rows;
  if (begin < end) {
    rest = rest - Definition::ReduceOver(ReduceOp::kSum, {begin}, {end},
                                         [&](const std::vector<Expr>& r) {
                                           return m(r[0]) * x(r[0]);
                                         });
  }
  def.Set(0, Select(row == Expr(attrs.row), rest / m(attrs.row), def.In(1, i)));
}

}  // namespace

MXC_OP(Substitute) {
  return Op<SubstituteAttrs>("_substitute")
      .Internal()
      .Doc("one row of the solution of a triangular system")
      .Inputs({{"A", InputKind::kData}, {"X", InputKind::kData}})
      .Types(SubstituteTypes)
      .Meaning(SubstituteMeaning);
}

}  // namespace mxc
