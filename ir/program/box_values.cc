// SPDX-License-Identifier: Apache-2.0
#include "ir/program/box_values.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ir/program/program.h"

namespace mxc {
namespace {

using Values = LaneValues;

constexpr int kMaxLanes = 512;

int64_t Product(const Extents& extents) {
  int64_t product = 1;
  for (const int64_t n : extents) product *= n;
  return product;
}

// Whether some reduction has one value for all indices of the axis: then it
// pays to go along that axis alone.
bool SharesAlong(const Expr& e, int axis,
                 std::unordered_set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return false;
  if (e->kind == ExprKind::kReduce && !UsesVar(e, axis)) return true;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return SharesAlong(arg, axis, seen); });
}

// How many of the last axes the runs over a box go along: several where they
// are whole, so that the elements lie one behind the other.
size_t AxesOfRuns(const Expr& value, const Extents& extent,
                  const Extents& dims) {
  const size_t rank = dims.size();
  int last = static_cast<int>(rank) - 1;
  while (last > 0 && extent[last] == 1) --last;
  std::unordered_set<const ExprNode*> seen;
  size_t axes = std::min<size_t>(rank, 1);
  if (SharesAlong(value, last, seen)) return axes;
  while (axes > 0 && axes < rank && extent[rank - axes] == dims[rank - axes]) {
    ++axes;
  }
  return axes;
}

// Calls f(lanes, vars, offset) for runs of a box along its last `axes` axes;
// the offset of the first lane is row-major in `dims`.
template <class F>
void ForRuns(const Extents& begin, const Extents& extent, const Extents& dims,
             size_t axes, F f) {
  const size_t rank = dims.size(), outer = rank - axes;
  const Extents along(extent.begin() + static_cast<ptrdiff_t>(outer),
                      extent.end());
  const int64_t inner = Product(along);
  const int64_t rows = inner == 0 ? 0 : Product(extent) / inner;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t at = 0; at < inner; at += kMaxLanes) {
      const int lanes =
          static_cast<int>(std::min<int64_t>(kMaxLanes, inner - at));
      std::vector<Values> vars(rank);
      int64_t rest = row;
      for (size_t axis = outer; axis-- > 0; rest /= extent[axis]) {
        vars[axis] = {static_cast<Element>(begin[axis] + rest % extent[axis])};
      }
      for (int lane = 0; lane < lanes; ++lane) {
        rest = at + lane;
        for (size_t axis = rank; axis-- > outer; rest /= extent[axis]) {
          vars[axis].push_back(
              static_cast<Element>(begin[axis] + rest % extent[axis]));
        }
      }
      int64_t offset = 0;
      for (size_t axis = 0; axis < rank; ++axis) {
        offset = offset * dims[axis] + static_cast<int64_t>(vars[axis][0]);
      }
      f(lanes, vars, offset);
    }
  }
}

std::vector<OperandView> ViewsOf(const StepValues& values) {
  std::vector<OperandView> views;
  for (size_t i = 0; i < values.inputs.size(); ++i) {
    const int buffer = values.step.inputs[i];
    views.push_back(
        {*values.inputs[i], values.program.buffers[buffer].type.shape.dims()});
  }
  return views;
}

}  // namespace

BoxValues::BoxValues(const StepValues& values)
    : evaluator_(ViewsOf(values), values.arithmetic.noise) {}

void BoxValues::Compute(const Store& store, const Extents& dims,
                        std::vector<Element>& out,
                        const std::vector<Element>& sums) {
  ForRuns(store.begin, store.extent, dims,
          AxesOfRuns(store.value, store.extent, dims),
          [&](int lanes, const std::vector<Values>& vars, int64_t at) {
            Values acc;
            if (!sums.empty()) {
              acc.assign(sums.begin() + at, sums.begin() + at + lanes);
            }
            const Values v = evaluator_.Evaluate(store.value, lanes, vars, acc);
            std::ranges::copy(v, out.begin() + at);
          });
}

}  // namespace mxc
