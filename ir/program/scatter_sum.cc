// SPDX-License-Identifier: Apache-2.0
#include "ir/program/scatter_sum.h"

#include <algorithm>

#include "ir/program/steps/map.h"

namespace mxc {
namespace {

bool IsConstant(const Range& range) {
  return range.begin->kind == ExprKind::kConst &&
         range.end->kind == ExprKind::kConst;
}

// The axis that `e` is the index variable of, or -1.
int AxisOf(const Expr& e, const Shape& shape) {
  const bool axis = e->kind == ExprKind::kVar && e->index < shape.rank();
  return axis ? e->index : -1;
}

}  // namespace

std::optional<ScatterSum> MatchScatterSum(const Store& store,
                                          const Shape& shape) {
  const Expr& sum = store.value;
  if (store.extent != shape.dims() || sum->kind != ExprKind::kReduce ||
      sum->reduce != ReduceOp::kSum ||
      !std::ranges::all_of(sum->ranges, IsConstant)) {
    return std::nullopt;
  }
  const Expr& body = sum->args[0];
  if (body->kind != ExprKind::kSelect || !IsConst(body->args[2], 0)) {
    return std::nullopt;
  }
  const Expr& here = body->args[0];
  const bool equality = here->kind == ExprKind::kBinary &&
                        here->binary == BinaryOp::kEqual &&
                        here->args[0]->dtype == DType::kI64;
  if (!equality) return std::nullopt;
  for (const int side : {1, 0}) {
    const int axis = AxisOf(here->args[side], shape);
    const Expr& position = here->args[1 - side];
    if (axis < 0 || UsesVar(position, axis) || UsesVar(body->args[1], axis)) {
      continue;
    }
    // A position that is known beforehand is no scattering.
    if (!HasLoads(position)) continue;
    return ScatterSum{axis, sum->ranges, position, body->args[1]};
  }
  return std::nullopt;
}

}  // namespace mxc
