// SPDX-License-Identifier: Apache-2.0
// _sort_rank: how many elements along an axis come before each one in sorted
// order; our own operator, see sorting.h.
//   data [A…, n, B…] → i32[A…, n, B…]
// C1  axis is in range
#include "ir/ops/tensor/sort/sort_rank.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/sort/order.h"

namespace mxc {
namespace {

void SortRankMeaning(const SortRankAttrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.InShape(0).rank());
  const std::vector<Expr> i = def.Indices();
  const Expr own = def.In(0, i);
  const Expr count =
      Definition::Sum({def.InShape(0)[axis]}, [&](const std::vector<Expr>& r) {
        std::vector<Expr> index = i;
        index[axis] = r[0];
        const Expr other = def.In(0, index);
        const Expr before =
            attrs.is_ascend ? SortsBefore(other, own) : SortsBefore(own, other);
        const Expr after =
            attrs.is_ascend ? SortsBefore(own, other) : SortsBefore(other, own);
        const Expr tie = Unary(UnaryOp::kNot, after) && r[0] < i[axis];
        return Cast(before || tie, DType::kI32);
      });
  def.Set(0, count);
}

}  // namespace

MXC_OP(SortRank) {
  return Op<SortRankAttrs>("_sort_rank")
      .Doc("the place of each element in sorted order")
      .Types([](const SortRankAttrs& attrs, TypeInference& t) {
        t.AllSameShape();
        t.SetOutDType(0, DType::kI32);
        if (t.In(0).known_rank()) {
          RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
        }
      })
      .Meaning(SortRankMeaning)
      .ZeroGradient();
}

}  // namespace mxc
