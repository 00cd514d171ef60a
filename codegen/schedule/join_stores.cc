// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/join_stores.h"

#include <optional>

#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// The box's condition on its index, given that earlier boxes were ruled out.
Expr InBox(const Store& store, const Shape& shape) {
  Expr condition = Constant(1, DType::kBool);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto a = static_cast<size_t>(axis);
    const int64_t begin = store.begin[a], end = begin + store.extent[a];
    if (begin > 0) condition = condition && Expr(begin) <= Var(axis);
    if (end < shape[axis]) condition = condition && Var(axis) < Expr(end);
  }
  return condition;
}

// Whether the boxes lie side by side along one axis, in this order.
std::optional<int> AxisOfRow(std::span<const Store* const> stores,
                             const Shape& shape) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    int64_t at = 0;
    bool row = true;
    for (const Store* store : stores) {
      for (int other = 0; other < shape.rank(); ++other) {
        const auto a = static_cast<size_t>(other);
        row &= other == axis ? store->begin[a] == at
                             : store->extent[a] == shape[other];
      }
      at += store->extent[static_cast<size_t>(axis)];
    }
    if (row) return axis;
  }
  return std::nullopt;
}

}  // namespace

Expr JoinStores(std::span<const Store* const> stores, const Shape& shape) {
  const auto axis = AxisOfRow(stores, shape);
  Expr value = stores.back()->value;
  for (size_t i = stores.size() - 1; i-- > 0;) {
    Expr condition;
    if (axis) {
      const auto a = static_cast<size_t>(*axis);
      const int64_t end = stores[i]->begin[a] + stores[i]->extent[a];
      condition = Var(*axis) < Expr(end);
    } else {
      condition = InBox(*stores[i], shape);
    }
    value = Select(condition, stores[i]->value, value);
  }
  return value;
}

}  // namespace mxc
