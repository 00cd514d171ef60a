// SPDX-License-Identifier: Apache-2.0
// Reductions along axes. Axes are an attribute of old versions and an input of
// newer ones; both are read whatever the version is. Data without elements are
// reduced to what the sum, product … of nothing is.
#include <algorithm>
#include <limits>

#include "frontend/onnx/call.h"
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/reduction/extremum.h"
#include "ir/ops/tensor/shape/reverse.h"

namespace mxc::onnx {
namespace {

struct Reduction {
  Value x;       // empty where the data have no elements
  Extents axes;  // empty: nothing is reduced
  bool keep = true;
};

Reduction ReductionOf(Call& c) {
  Reduction of{{}, {}, c.Flag("keepdims", true)};
  if (!Call::IsEmpty(c.ShapeOf(0))) of.x = c.In(0);
  const bool nothing = c.Flag("noop_with_empty_axes");
  const int rank = c.RankOf(0);
  std::optional<Extents> axes = c.Ints("axes");
  if (c.Has(1)) axes = c.NeedInts(1, "axes");
  if (axes && !axes->empty()) {
    of.axes = c.Axes(*axes, rank);
  } else if (!nothing) {
    for (int axis = 0; axis < rank; ++axis) of.axes.push_back(axis);
  }
  return of;
}

template <class Id>
Value Reduce(Call& c, const Reduction& of, Value x) {
  if (of.axes.empty()) return x;
  return c.Op<Id>({x}, {.axis = of.axes, .keepdims = of.keep});
}

Extents ReducedDims(const Reduction& of, const Shape& shape) {
  Extents dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool reduced = std::ranges::binary_search(of.axes, axis);
    if (!reduced || of.keep) dims.push_back(reduced ? 1 : shape[axis]);
  }
  return dims;
}

// Returns whether the data have no elements, and the result was given: `value`
// where it has any.
bool GaveOfNothing(Call& c, const Reduction& of, Element value) {
  if (of.x) return false;
  const DType dtype = c.DTypeOf(0);
  const TensorType type = {dtype, Shape(ReducedDims(of, c.ShapeOf(0)))};
  if (Call::IsEmpty(type.shape)) {
    c.GiveEmpty(dtype, type.shape);
    return true;
  }
  c.RequireFew(type.shape.elements());
  std::byte* to = nullptr;
  Tensor result = Tensor::Allocate(type, &to);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(to + i * SizeOf(dtype), dtype, value);
  }
  c.Give(0, std::move(result));
  return true;
}

template <class Id>
void Reduced(Call& c, Element of_nothing) {
  const Reduction of = ReductionOf(c);
  if (GaveOfNothing(c, of, of_nothing)) return;
  c.Give(0, Reduce<Id>(c, of, of.x));
}

}  // namespace

void ImportReduceSum(Call& c) { Reduced<op::NpSum>(c, 0); }
void ImportReduceProd(Call& c) { Reduced<op::NpProd>(c, 1); }
void ImportReduceMax(Call& c) {
  Reduced<op::NpMax>(c, BoundOf(c.DTypeOf(0), /*greatest=*/false));
}
void ImportReduceMin(Call& c) {
  Reduced<op::NpMin>(c, BoundOf(c.DTypeOf(0), /*greatest=*/true));
}

void ImportReduceL1(Call& c) {
  const Reduction of = ReductionOf(c);
  if (GaveOfNothing(c, of, 0)) return;
  c.Give(0, Reduce<op::NpSum>(c, of, c.Abs(of.x)));
}
void ImportReduceL2(Call& c) {
  const Reduction of = ReductionOf(c);
  if (GaveOfNothing(c, of, 0)) return;
  c.Give(0, c.Sqrt(Reduce<op::NpSum>(c, of, c.Square(of.x))));
}
void ImportReduceSumSquare(Call& c) {
  const Reduction of = ReductionOf(c);
  if (GaveOfNothing(c, of, 0)) return;
  c.Give(0, Reduce<op::NpSum>(c, of, c.Square(of.x)));
}
void ImportReduceLogSum(Call& c) {
  const Reduction of = ReductionOf(c);
  if (GaveOfNothing(c, of, BoundOf(c.DTypeOf(0), /*greatest=*/false))) return;
  c.Give(0, c.Log(Reduce<op::NpSum>(c, of, of.x)));
}

// The greatest is taken out before the exponential, unless it is infinite.
void ImportReduceLogSumExp(Call& c) {
  const Reduction of = ReductionOf(c);
  if (GaveOfNothing(c, of, BoundOf(c.DTypeOf(0), /*greatest=*/false))) return;
  if (of.axes.empty()) return c.Give(0, of.x);
  Reduction kept = of;
  kept.keep = true;
  Value most = Reduce<op::NpMax>(c, kept, of.x);
  most = c.Op<op::NpiWhere>(
      {c.Op<op::NpiIsinf>({most}), c.ScalarLike(0, most), most});
  const Value sum = Reduce<op::NpSum>(c, kept, c.Exp(c.Sub(of.x, most)));
  const Value result = c.Add(c.Log(sum), most);
  c.Give(0, c.Reshape(result, ReducedDims(of, of.x.shape())));
}

// Of integers: towards zero.
void ImportReduceMean(Call& c) {
  const Reduction of = ReductionOf(c);
  const DType dtype = c.DTypeOf(0);
  const Element none =
      IsFloat(dtype) ? std::numeric_limits<Element>::quiet_NaN() : 0;
  if (GaveOfNothing(c, of, none)) return;
  if (IsFloat(dtype)) return c.Give(0, Reduce<op::NpiMean>(c, of, of.x));
  const Value sum = Reduce<op::NpSum>(c, of, c.Cast(of.x, DType::kI64));
  int64_t count = 1;
  for (const int64_t axis : of.axes)
    count *= of.x.shape()[static_cast<int>(axis)];
  c.Give(0, c.Cast(c.Div(sum, c.ScalarLike(static_cast<double>(count), sum)),
                   dtype));
}

namespace {

// The first of equal ones, or the last.
template <class Id>
void Extremum(Call& c) {
  const bool last = c.Flag("select_last_index");
  const bool keep = c.Flag("keepdims", true);
  Value x = c.In(0);
  const int axis = c.Axis(c.Int("axis", 0), x.shape().rank());
  if (last) x = c.Op<op::Reverse>({x}, {.axis = {axis}});
  Value at = c.Op<Id>({x}, {.axis = axis, .keepdims = keep});
  at = c.Cast(at, DType::kI64);
  if (last) {
    const auto most = static_cast<double>(x.shape()[axis] - 1);
    at = c.Sub(c.ScalarLike(most, at), at);
  }
  c.Give(0, at);
}

}  // namespace

void ImportArgMax(Call& c) { Extremum<op::NpiArgmax>(c); }
void ImportArgMin(Call& c) { Extremum<op::NpiArgmin>(c); }

}  // namespace mxc::onnx
