// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/shape/joining.h"

#include "ir/ops/tensor/indexing/place.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/concat.h"
#include "ir/ops/tensor/shape/stack.h"

namespace mxc {
namespace {

// Takes the extents of `shape` into `common`; axis itself is left alone.
// False when they contradict each other.
bool MergeOtherAxes(Shape& common, const Shape& shape, int axis) {
  if (!shape.known_rank()) return true;
  if (shape.rank() != common.rank()) return false;
  for (int k = 0; k < common.rank(); ++k) {
    if (k == axis || !shape.known(k)) continue;
    if (common.known(k) && common[k] != shape[k]) return false;
    common[k] = shape[k];
  }
  return true;
}

int JoinedRank(const TypeInference& t) {
  for (int i = 0; i < t.inputs(); ++i) {
    if (t.In(i).known_rank()) return t.In(i).rank();
  }
  return t.Out(0).known_rank() ? t.Out(0).rank() : -1;
}

// Settles the extents along the axis: the output's from all inputs, or the one
// that is missing from the others.
void SumAlong(TypeInference& t, int axis) {
  int64_t sum = 0;
  int missing = -1, unknown = 0;
  for (int i = 0; i < t.inputs(); ++i) {
    if (t.In(i).known(axis)) {
      if (t.Require(t.In(i)[axis] <= (int64_t{1} << 62) - sum,
                    "C3: the inputs are too large together")) {
        sum += t.In(i)[axis];
      }
    } else {
      missing = i;
      ++unknown;
    }
  }
  Shape part = Shape::OfRank(t.Out(0).rank());
  if (unknown == 0) {
    part[axis] = sum;
    t.SetOut(0, part);
  } else if (unknown == 1 && t.Out(0).known(axis)) {
    part[axis] = t.Out(0)[axis] - sum;
    if (t.Require(part[axis] > 0,
                  "C3: the inputs add up to more than the {} of the output",
                  t.Out(0)[axis])) {
      t.SetIn(missing, part);
    }
  }
}

}  // namespace

void JoinTypes(TypeInference& t, int64_t axis) {
  t.AllSameDType();
  const int rank = JoinedRank(t);
  if (rank < 0) return;
  const auto along = RequireAxis(t, "C1", "axis", axis, rank);
  if (!along) return;
  Shape common = Shape::OfRank(rank);
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.Require(MergeOtherAxes(common, t.In(i), *along),
                   "C2: input {} has shape {}, expected {} except in axis {}",
                   i, ToString(t.In(i)), ToString(common), *along)) {
      return;
    }
  }
  if (!t.Require(MergeOtherAxes(common, t.Out(0), *along),
                 "C2: the output has shape {}, the inputs {} except in axis {}",
                 ToString(t.Out(0)), ToString(common), *along)) {
    return;
  }
  for (int i = 0; i < t.inputs(); ++i) t.SetIn(i, common);
  t.SetOut(0, common);
  SumAlong(t, *along);
}

void JoinMeaning(Definition& def, int axis) {
  Extents begin(def.OutShape().rank(), 0);
  for (int i = 0; i < def.inputs(); ++i) {
    std::vector<Expr> index = def.Indices();
    index[axis] = index[axis] - begin[axis];
    def.SetBox(0, begin, def.InShape(i).dims(), def.In(i, index));
    begin[axis] += def.InShape(i)[axis];
  }
}

std::vector<Value> JoinGradient(GradientBuilder& g, int64_t axis) {
  const int along = *ResolveAxis(axis, g.Out().shape().rank());
  std::vector<Value> gradients = g.None();
  int64_t begin = 0;
  for (int i = 0; i < g.inputs(); ++i) {
    const int64_t end = begin + g.In(i).shape()[along];
    if (g.Needs(i)) gradients[i] = g.SliceAxis(g.Head(), along, begin, end);
    begin = end;
  }
  return gradients;
}

std::vector<Value> CutGradient(GradientBuilder& g, int axis, bool squeezed,
                               int64_t begin) {
  const Shape& in = g.In(0).shape();
  Shape joined = in;
  joined[axis] -= begin;
  std::vector<Value> heads;
  for (int i = 0; i < g.outputs(); ++i) heads.push_back(g.Head(i));
  const Value value =
      heads.size() == 1 ? g.Reshape(heads[0], joined)
      : squeezed        ? g.Op<op::Stack>(
                       heads, {.axis = axis, .num_args = std::ssize(heads)})
                 : g.Op<op::Concat>(
                       heads, {.num_args = std::ssize(heads), .dim = axis});
  if (begin == 0) return {value};
  Extents at(in.rank(), 0);
  at[axis] = begin;
  return {PlaceInZeros(g, value, in, at, Extents(in.rank(), 1))};
}

}  // namespace mxc
