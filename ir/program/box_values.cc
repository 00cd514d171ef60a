// SPDX-License-Identifier: Apache-2.0
#include "ir/program/box_values.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ir/program/flops.h"
#include "ir/program/program.h"
#include "ir/support/threads.h"

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

// The runs of a box along its last `axes` axes, each of at most kMaxLanes
// elements.
class Runs {
 public:
  Runs(const Extents& begin, const Extents& extent, const Extents& dims,
       size_t axes)
      : begin_(begin),
        extent_(extent),
        dims_(dims),
        outer_(dims.size() - axes),
        inner_(Product(
            {extent.begin() + static_cast<ptrdiff_t>(outer_), extent.end()})),
        of_row_((inner_ + kMaxLanes - 1) / kMaxLanes) {}

  int64_t size() const {
    return inner_ == 0 ? 0 : Product(extent_) / inner_ * of_row_;
  }

  // Calls f(lanes, vars, offset); the offset of the first lane is row-major in
  // the dims.
  template <class F>
  void At(int64_t run, F f) const {
    const size_t rank = dims_.size();
    const int64_t at = run % of_row_ * kMaxLanes;
    const int lanes =
        static_cast<int>(std::min<int64_t>(kMaxLanes, inner_ - at));
    std::vector<Values> vars(rank);
    int64_t rest = run / of_row_;
    for (size_t axis = outer_; axis-- > 0; rest /= extent_[axis]) {
      vars[axis] = {static_cast<Element>(begin_[axis] + rest % extent_[axis])};
    }
    for (int lane = 0; lane < lanes; ++lane) {
      rest = at + lane;
      for (size_t axis = rank; axis-- > outer_; rest /= extent_[axis]) {
        vars[axis].push_back(
            static_cast<Element>(begin_[axis] + rest % extent_[axis]));
      }
    }
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      offset = offset * dims_[axis] + static_cast<int64_t>(vars[axis][0]);
    }
    f(lanes, vars, offset);
  }

 private:
  const Extents& begin_;
  const Extents& extent_;
  const Extents& dims_;
  size_t outer_;
  int64_t inner_, of_row_;
};

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
    : evaluator_(ViewsOf(values), values.arithmetic.noise),
      by_one_(values.arithmetic.noise != nullptr) {}

void BoxValues::Compute(const Store& store, const Extents& dims,
                        std::vector<Element>& out,
                        const std::vector<Element>& sums) {
  const Runs runs(store.begin, store.extent, dims,
                  AxesOfRuns(store.value, store.extent, dims));
  const auto compute = [&](Evaluator& evaluator, int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) {
      runs.At(run, [&](int lanes, const std::vector<Values>& vars, int64_t at) {
        Values acc;
        if (!sums.empty()) {
          acc.assign(sums.begin() + at, sums.begin() + at + lanes);
        }
        const Values v = evaluator.Evaluate(store.value, lanes, vars, acc);
        std::ranges::copy(v, out.begin() + at);
      });
    }
  };
  if (by_one_ || runs.size() < 2) return compute(evaluator_, 0, runs.size());
  // To find an element takes about as long as so many operations.
  constexpr double kFind = 16;
  const double cost = (OperationsOf(store.value, store.extent) +
                       kFind * static_cast<double>(Product(store.extent))) /
                      static_cast<double>(runs.size());
  ForParts(runs.size(), cost, [&](int64_t begin, int64_t end) {
    if (begin == 0 && end == runs.size())
      return compute(evaluator_, begin, end);
    Evaluator own = evaluator_;
    compute(own, begin, end);
  });
}

}  // namespace mxc
