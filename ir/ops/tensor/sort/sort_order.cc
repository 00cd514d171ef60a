// SPDX-License-Identifier: Apache-2.0
// _sort_order: the inverse of the permutations that lie along an axis, as far
// as its first k places; our own operator, see sorting.h.
//   data i32[A…, n, B…] → i32[A…, k, B…]
//   data[a, output[a, j, b], b] = j
// C1  axis is in range
// C2  k ≤ n
#include "ir/ops/tensor/sort/sort_order.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void SortOrderTypes(const SortOrderAttrs& attrs, TypeInference& t) {
  t.SetInDType(0, DType::kI32);
  t.SetOutDType(0, DType::kI32);
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
  if (!axis) return;
  Shape out = t.In(0);
  if (t.Require(!out.known(*axis) || attrs.k <= out[*axis],
                "C2: {} places of {} are asked for", attrs.k, out[*axis])) {
    out[*axis] = attrs.k;
    t.SetOut(0, out);
  }
}

void SortOrderMeaning(const SortOrderAttrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.InShape(0).rank());
  const std::vector<Expr> i = def.Indices();
  const int64_t extent = def.InShape(0)[axis];
  const Expr place = Cast(i[axis], DType::kI32);
  def.Set(0, Definition::MinOf({extent}, [&](const std::vector<Expr>& r) {
            std::vector<Expr> index = i;
            index[axis] = r[0];
            return Select(
                def.In(0, index) == place, Cast(r[0], DType::kI32),
                Constant(static_cast<double>(extent - 1), DType::kI32));
          }));
}

}  // namespace

MXC_OP(SortOrder) {
  return Op<SortOrderAttrs>("_sort_order")
      .Doc("the inverse of permutations")
      .Types(SortOrderTypes)
      .Meaning(SortOrderMeaning)
      .ZeroGradient();
}

}  // namespace mxc
