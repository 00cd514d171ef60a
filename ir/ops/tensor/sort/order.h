// SPDX-License-Identifier: Apache-2.0
// What the operators share that find an order by a procedure:
//   data    [A…, n, B…]
//   output  i32[A…, k, B…]   where the first k elements of the order are
// Equal elements keep their order, NaN is greater than every number.
// C1  axis is in range
// C2  k ≤ n, and n has 31 bits
#pragma once

#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {

struct OrderAttrs {
  int64_t axis = -1;
  bool is_ascend = true;
  int64_t k = 1;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is sorted");
    f("is_ascend", is_ascend).Doc("the least element first");
    f("k", k).Required().Min(1).Doc("how many places");
  }
};
MXC_ATTRS(RadixOrder, OrderAttrs);
MXC_ATTRS(TopOrder, OrderAttrs);

void OrderTypes(const OrderAttrs& attrs, TypeInference& t);

// The rows of input 0 and output 0 along the axis: one for each task.
class OrderedRows {
 public:
  OrderedRows(const OrderAttrs& attrs, ProcedureBuilder& p);

  int64_t n() const { return p_.InShape(0)[axis_]; }
  int64_t k() const { return p_.OutShape()[axis_]; }
  // Of this task's row.
  Expr Data(const Expr& i) const { return p_.In(0).At(At(i)); }
  Expr Order(const Expr& j) const { return p_.Out().At(At(j)); }

 private:
  std::vector<Expr> At(const Expr& i) const;

  ProcedureBuilder& p_;
  int axis_;
  std::vector<Expr> others_;  // indices of the other axes
};

// a < b in the order; false for equal ones.
Expr SortsBefore(const Expr& a, const Expr& b);

}  // namespace mxc
