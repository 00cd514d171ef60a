// SPDX-License-Identifier: Apache-2.0
// _rotate: one step of Jacobi's diagonalization; our own operator, see
// linalg_syevd.cc.
//   data    f[…, n, 2n]   [W | U] with W symmetric
//   output  [Jᵀ · W · J | Jᵀ · U], where the rotation J in the plane of axes p
//           and q makes W[p, q] zero
// C1  data have such matrices, and p < q < n
// Source: G. Golub and C. Van Loan, Matrix Computations, 8.5.2.
#include "ir/ops/tensor/linalg/rotate.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void RotateTypes(const RotateAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.AllSameShape();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  const int rank = in.rank();
  t.Require(rank >= 2 && in[rank - 1] / 2 == in[rank - 2] &&
                in[rank - 1] % 2 == 0 && attrs.p < attrs.q &&
                attrs.q < in[rank - 2],
            "C1: there is no plane of {} and {} in {}", attrs.p, attrs.q,
            ToString(in));
}

void RotateMeaning(const RotateAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const int64_t n = def.OutShape()[rank - 2];
  const std::vector<Expr> i = def.Indices();
  const Expr row = i[rank - 2], column = i[rank - 1];
  const Expr p = attrs.p, q = attrs.q, one = def.Lit(1);
  const auto at = [&](const Expr& r, const Expr& c) {
    std::vector<Expr> index = i;
    index[rank - 2] = r;
    index[rank - 1] = c;
    return def.In(0, index);
  };
  const Expr theta = (at(q, q) - at(p, p)) / (def.Lit(2) * at(p, q));
  const Expr size = Abs(theta) + Sqrt(theta * theta + one);
  const Expr tangent = Select(theta >= def.Lit(0), one / size, -one / size);
  const Expr cosine = one / Sqrt(tangent * tangent + one);
  const Expr sine = tangent * cosine;
  const auto first = [&](const Expr& x, const Expr& y) {
    return cosine * x - sine * y;
  };
  const auto second = [&](const Expr& x, const Expr& y) {
    return sine * x + cosine * y;
  };
  const auto in_rows = [&](const Expr& c) {
    return Select(row == p, first(at(p, c), at(q, c)),
                  Select(row == q, second(at(p, c), at(q, c)), at(row, c)));
  };
  const Expr rotated = Select(
      column == p, first(in_rows(p), in_rows(q)),
      Select(column == q, second(in_rows(p), in_rows(q)), in_rows(column)));
  // Exactly, whatever the rounding.
  const Expr zeroed = column < Expr(n) &&
                      ((row == p && column == q) || (row == q && column == p));
  def.Set(0, Select(at(p, q) == def.Lit(0), def.In(0, i),
                    Select(zeroed, def.Lit(0), rotated)));
}

}  // namespace

MXC_OP(Rotate) {
  return Op<RotateAttrs>("_rotate")
      .Internal()
      .Doc("a rotation that makes an element of a symmetric matrix zero")
      .Types(RotateTypes)
      .Meaning(RotateMeaning);
}

}  // namespace mxc
