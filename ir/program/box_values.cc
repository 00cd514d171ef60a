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

// Returns whether some reduction has one value for all indices of the axis:
// then it pays to go along that axis alone.
bool SharesAlong(const Expr& e, int axis,
                 std::unordered_set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return false;
  if (e->kind == ExprKind::kReduce && !UsesVar(e, axis)) return true;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return SharesAlong(arg, axis, seen); });
}

// Marks the axes whose variables stand elsewhere than alone as an index.
void MarkComputedWith(const Expr& e, std::vector<bool>& marked,
                      std::unordered_set<const ExprNode*>& seen) {
  if (e->kind == ExprKind::kVar) {
    const auto axis = static_cast<size_t>(e->index);
    if (axis < marked.size()) marked[axis] = true;
    return;
  }
  if (!seen.insert(e.get()).second) return;
  for (const Expr& arg : e->args) {
    const bool alone =
        e->kind == ExprKind::kLoad && arg->kind == ExprKind::kVar;
    if (!alone) MarkComputedWith(arg, marked, seen);
  }
  for (const Range& range : e->ranges) {
    MarkComputedWith(range.begin, marked, seen);
    MarkComputedWith(range.end, marked, seen);
  }
}

// Neighbouring axes that the lanes of runs over a box go along; of all but the
// first of them the box is whole, so that the elements are equally far apart.
struct LaneAxes {
  size_t first = 0, count = 0;

  int64_t Lanes(const Extents& extent) const {
    const auto begin = extent.begin() + static_cast<ptrdiff_t>(first);
    return Product({begin, begin + static_cast<ptrdiff_t>(count)});
  }
};

// The last ones, or fewer where that saves reductions.
LaneAxes LastAxes(const Expr& value, const Extents& extent,
                  const Extents& dims) {
  const size_t rank = dims.size();
  int last = static_cast<int>(rank) - 1;
  while (last > 0 && extent[last] == 1) --last;
  std::unordered_set<const ExprNode*> seen;
  size_t axes = std::min<size_t>(rank, 1);
  if (!SharesAlong(value, last, seen)) {
    while (axes > 0 && axes < rank &&
           extent[rank - axes] == dims[rank - axes]) {
      ++axes;
    }
  }
  return {rank - axes, axes};
}

// Of the axes that nothing is computed with, those with the most lanes.
LaneAxes LongestPlain(const std::vector<bool>& computed, const Extents& extent,
                      const Extents& dims) {
  LaneAxes longest;
  for (size_t last = 0; last < dims.size(); ++last) {
    LaneAxes axes = {last + 1, 0};
    while (axes.first > 0 && !computed[axes.first - 1] &&
           (axes.count == 0 || extent[axes.first] == dims[axes.first])) {
      --axes.first, ++axes.count;
    }
    if (axes.count > 0 && axes.Lanes(extent) > longest.Lanes(extent)) {
      longest = axes;
    }
  }
  return longest;
}

// Along the axes of a window its place, its bounds and what is within differ
// from lane to lane; along others they are computed once for all lanes.
LaneAxes LaneAxesOf(const Expr& value, const Extents& extent,
                    const Extents& dims) {
  constexpr int64_t kEnoughLanes = 16;
  const LaneAxes last = LastAxes(value, extent, dims);
  std::vector<bool> computed(dims.size());
  std::unordered_set<const ExprNode*> seen;
  MarkComputedWith(value, computed, seen);
  bool worth = false;
  for (size_t axis = last.first; axis < dims.size(); ++axis) {
    worth = worth || (computed[axis] && extent[axis] > 1);
  }
  for (size_t axis = 0; axis < dims.size() && worth; ++axis) {
    std::unordered_set<const ExprNode*> visited;
    worth = extent[axis] == 1 ||
            !SharesAlong(value, static_cast<int>(axis), visited);
  }
  if (!worth) return last;
  const LaneAxes plain = LongestPlain(computed, extent, dims);
  return plain.Lanes(extent) >= kEnoughLanes ? plain : last;
}

// The runs of a box along some of its axes, each of at most kMaxLanes elements.
class Runs {
 public:
  Runs(const Extents& begin, const Extents& extent, const Extents& dims,
       LaneAxes axes)
      : begin_(begin),
        extent_(extent),
        dims_(dims),
        axes_(axes),
        inner_(axes.Lanes(extent)),
        of_row_((inner_ + kMaxLanes - 1) / kMaxLanes) {
    for (size_t axis = axes.first + axes.count; axis < dims.size(); ++axis) {
      stride_ *= dims[axis];
    }
  }

  int64_t size() const {
    return inner_ == 0 ? 0 : Product(extent_) / inner_ * of_row_;
  }

  // Calls f(lanes, vars, offset, stride): where the first lane lies, row-major
  // in the dims, and how far the lanes are apart.
  template <class F>
  void At(int64_t run, F f) const {
    const size_t rank = dims_.size(), behind = axes_.first + axes_.count;
    const int64_t at = run % of_row_ * kMaxLanes;
    const int lanes =
        static_cast<int>(std::min<int64_t>(kMaxLanes, inner_ - at));
    std::vector<Values> vars(rank);
    Extents index(rank);
    int64_t rest = run / of_row_;
    for (size_t axis = rank; axis-- > 0;) {
      if (axis >= axes_.first && axis < behind) continue;
      index[axis] = rest % extent_[axis];
      rest /= extent_[axis];
      vars[axis] = {static_cast<Element>(begin_[axis] + index[axis])};
    }
    rest = at;
    for (size_t axis = behind; axis-- > axes_.first; rest /= extent_[axis]) {
      index[axis] = rest % extent_[axis];
      vars[axis].resize(static_cast<size_t>(lanes));
    }
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      offset = offset * dims_[axis] + begin_[axis] + index[axis];
    }
    for (int lane = 0; lane < lanes; ++lane) {
      for (size_t axis = axes_.first; axis < behind; ++axis) {
        vars[axis][lane] = static_cast<Element>(begin_[axis] + index[axis]);
      }
      for (size_t axis = behind; axis-- > axes_.first;) {
        if (++index[axis] < extent_[axis]) break;
        index[axis] = 0;
      }
    }
    f(lanes, vars, offset, stride_);
  }

 private:
  const Extents& begin_;
  const Extents& extent_;
  const Extents& dims_;
  LaneAxes axes_;
  int64_t inner_, of_row_, stride_ = 1;
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
                  LaneAxesOf(store.value, store.extent, dims));
  const auto compute = [&](Evaluator& evaluator, int64_t begin, int64_t end) {
    const auto of_run = [&](int lanes, const std::vector<Values>& vars,
                            int64_t at, int64_t stride) {
      Values acc(sums.empty() ? 0 : lanes);
      for (size_t lane = 0; lane < acc.size(); ++lane) {
        acc[lane] = sums[at + static_cast<int64_t>(lane) * stride];
      }
      const Values v = evaluator.Evaluate(store.value, lanes, vars, acc);
      for (int lane = 0; lane < lanes; ++lane) {
        out[at + lane * stride] = v[lane];
      }
    };
    for (int64_t run = begin; run < end; ++run) runs.At(run, of_run);
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
