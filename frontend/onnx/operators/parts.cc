// SPDX-License-Identifier: Apache-2.0
// What joins tensors, cuts them, repeats and frames them.
#include <algorithm>
#include <optional>

#include "frontend/onnx/call.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/shape/tile.h"

namespace mxc::onnx {

void ImportConcat(Call& c) {
  const int64_t asked = c.Int("axis", 1);  // required since version 4
  const int rank = c.RankOf(0);
  c.Require(rank > 0, "scalars cannot be joined");
  const int axis = c.Axis(asked, rank);
  std::vector<Value> parts;
  Extents joined = c.ShapeOf(0).dims();
  joined[axis] = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    const Shape& shape = c.ShapeOf(i);
    c.Require(shape.rank() == rank, "input {} has {} axes, input 0 has {}", i,
              shape.rank(), rank);
    joined[axis] += shape[axis];
    if (!Call::IsEmpty(shape)) parts.push_back(c.In(i));
  }
  if (parts.empty()) return c.GiveEmpty(c.DTypeOf(0), joined);
  c.Give(0, c.Concat(parts, axis));
}

namespace {

void SplitInto(Call& c, const std::optional<Extents>& sizes) {
  const Shape& shape = c.ShapeOf(0);
  const int axis = c.Axis(c.Int("axis", 0), shape.rank());
  Extents parts;
  if (sizes) {
    parts = *sizes;
  } else {
    const int64_t count = c.Int("num_outputs", c.outputs());
    c.Require(count > 0 && count == c.outputs(),
              "num_outputs is {}, and it has {} outputs", count, c.outputs());
    const int64_t size = (shape[axis] + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) {
      parts.push_back(std::clamp<int64_t>(shape[axis] - i * size, 0, size));
    }
  }
  c.Require(static_cast<int>(parts.size()) == c.outputs(),
            "there are {} parts for {} outputs", parts.size(), c.outputs());
  int64_t begin = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    c.Require(parts[i] >= 0 && parts[i] <= shape[axis] - begin,
              "part {} has {} of the {} elements that are left of axis {}", i,
              parts[i], shape[axis] - begin, axis);
    const int64_t end = begin + parts[i];
    if (parts[i] == 0) {
      Extents dims = shape.dims();
      dims[axis] = 0;
      c.Give(static_cast<int>(i), c.EmptyTensor(c.DTypeOf(0), dims));
    } else if (c.Wants(static_cast<int>(i))) {
      c.Give(static_cast<int>(i),
             c.SliceAxis(c.In(0), axis, begin, end, fmt::format("part{}", i)));
    }
    begin = end;
  }
  c.Require(begin == shape[axis], "its parts make {} of the extent {}", begin,
            shape[axis]);
}

}  // namespace

void ImportSplit(Call& c) {
  SplitInto(c, c.Has(1) ? std::optional(c.NeedInts(1, "split")) : std::nullopt);
}
void ImportSplitByAttribute(Call& c) { SplitInto(c, c.Ints("split")); }

namespace {

// By numpy's rule, but a start below the first element with a step back is that
// element, as the standard and ONNX Runtime have it.
void SliceBy(Call& c, const Extents& starts, const Extents& ends,
             const Extents& axes, const Extents& steps) {
  const Shape& shape = c.ShapeOf(0);
  c.Require(starts.size() == ends.size() && axes.size() == starts.size() &&
                steps.size() == starts.size(),
            "starts, ends, axes and steps are not of one length");
  (void)c.Axes(axes, shape.rank());
  Call::Bounds begin(shape.rank()), end = begin, step = begin;
  Extents dims = shape.dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = c.Axis(axes[i], shape.rank());
    const int64_t extent = shape[axis], by = steps[i];
    c.Require(by != 0, "a step is 0");
    if (extent == 0) continue;
    const auto bound = [&](int64_t at, int64_t low, int64_t high) {
      if (at < 0) at = at < -extent ? low : at + extent;
      return std::clamp(at, low, high);
    };
    const int64_t first =
        by > 0 ? bound(starts[i], 0, extent) : bound(starts[i], 0, extent - 1);
    const int64_t last =
        by > 0 ? bound(ends[i], 0, extent) : bound(ends[i], -1, extent - 1);
    const int64_t span = by > 0 ? last - first : first - last;
    const int64_t stride = by > 0 ? by : by < -extent ? extent + 1 : -by;
    dims[axis] = span <= 0 ? 0 : (span - 1) / stride + 1;
    begin[axis] = first;
    if (last >= 0) end[axis] = last;
    step[axis] = std::clamp<int64_t>(by, -extent - 1, extent + 1);
  }
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(0), dims);
  if (Shape(dims) == shape &&
      std::ranges::all_of(steps, [](int64_t by) { return by > 0; })) {
    return c.Give(0, c.operand(0));
  }
  c.Give(0, c.Slice(c.In(0), begin, end, step));
}

Extents FirstAxes(size_t count) {
  Extents axes;
  for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

}  // namespace

void ImportSlice(Call& c) {
  const Extents starts = c.NeedInts(1, "starts"), ends = c.NeedInts(2, "ends");
  const Extents axes =
      c.Has(3) ? c.NeedInts(3, "axes") : FirstAxes(starts.size());
  const Extents steps =
      c.Has(4) ? c.NeedInts(4, "steps") : Extents(starts.size(), 1);
  SliceBy(c, starts, ends, axes, steps);
}

void ImportSliceByAttributes(Call& c) {
  const Extents starts = c.Ints("starts").value_or(Extents());
  const Extents ends = c.Ints("ends").value_or(Extents());
  SliceBy(c, starts, ends, c.Ints("axes").value_or(FirstAxes(starts.size())),
          Extents(starts.size(), 1));
}

void ImportTile(Call& c) {
  const Extents repeats = c.NeedInts(1, "repeats");
  const Shape& from = c.ShapeOf(0);
  c.Require(static_cast<int>(repeats.size()) == from.rank(),
            "repeats {} are not of the {} axes of data", TupleText(repeats),
            from.rank());
  Extents dims = from.dims();
  for (size_t i = 0; i < repeats.size(); ++i) {
    c.Require(repeats[i] >= 0, "a repeat is negative");
    c.Require(repeats[i] <= kMaxTensorBytes / std::max<int64_t>(1, dims[i]),
              "its result is too large");
    dims[i] *= repeats[i];
  }
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(0), dims);
  if (Shape(dims) == from) return c.Give(0, c.operand(0));
  c.Give(0, c.Op<op::Tile>({c.In(0)}, {.reps = repeats}));
}

namespace {

constexpr std::string_view kPadModes[] = {"constant", "reflect", "edge",
                                          "wrap"};

// The positions of one axis that pads of `mode` repeat, in order.
Extents PaddedPositions(Call& c, int mode, int64_t extent, int64_t before,
                        int64_t after) {
  c.RequireFew(before + extent + after);
  Extents positions;
  for (int64_t i = -before; i < extent + after; ++i) {
    int64_t at = i;
    if (mode == 1) {
      const int64_t period = std::max<int64_t>(1, 2 * (extent - 1));
      c.Require(before < extent && after < extent,
                "pads {} and {} reflect more than the extent {}", before, after,
                extent);
      at = ((at % period) + period) % period;
      if (at >= extent) at = period - at;
    } else if (mode == 2) {
      at = std::clamp<int64_t>(at, 0, extent - 1);
    } else {
      at = ((at % extent) + extent) % extent;
    }
    positions.push_back(at);
  }
  return positions;
}

void PadBy(Call& c, const Extents& pads, const Extents& axes, int mode,
           const Value& value) {
  const Shape from = c.ShapeOf(0);
  c.Require(pads.size() == 2 * axes.size(),
            "pads {} are not two for each of {} axes", TupleText(pads),
            axes.size());
  (void)c.Axes(axes, from.rank());
  Extents before(from.rank(), 0), after = before;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = c.Axis(axes[i], from.rank());
    before[axis] = pads[i];
    after[axis] = pads[i + axes.size()];
  }
  for (const int64_t pad : pads) {
    c.Require(pad <= kMaxTensorBytes && pad >= -kMaxTensorBytes,
              "a pad of {} is too large", pad);
  }
  Value x = c.In(0);
  // Negative ones cut first.
  for (int axis = 0; axis < from.rank(); ++axis) {
    const int64_t begin = std::max<int64_t>(0, -before[axis]);
    const int64_t end = from[axis] - std::max<int64_t>(0, -after[axis]);
    c.Require(begin < end, "pads {} leave nothing of axis {}", TupleText(pads),
              axis);
    if (begin > 0 || end < from[axis]) x = c.SliceAxis(x, axis, begin, end);
  }
  Extents widths;
  bool any = false;
  for (int axis = 0; axis < from.rank(); ++axis) {
    before[axis] = std::max<int64_t>(0, before[axis]);
    after[axis] = std::max<int64_t>(0, after[axis]);
    any = any || before[axis] > 0 || after[axis] > 0;
    widths.push_back(before[axis]);
    widths.push_back(after[axis]);
  }
  if (!any) return c.Give(0, x);
  if (mode != 0) {
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (before[axis] == 0 && after[axis] == 0) continue;
      const Extents positions =
          PaddedPositions(c, mode, x.shape()[axis], before[axis], after[axis]);
      x = c.Op<op::Take>({x, c.ConstantInts(positions, "positions")},
                         {.axis = axis, .mode = IndexMode::kClip});
    }
    return c.Give(0, x);
  }
  // Pad of a value: a frame of it, into which the data are written.
  const bool zero = value.node->kind == Node::Kind::kConstant &&
                    value.node->constant.At(0) == 0;
  Extents dims, places;
  for (int axis = 0; axis < from.rank(); ++axis) {
    places.push_back(before[axis]);
    dims.push_back(before[axis] + x.shape()[axis] + after[axis]);
  }
  if (const auto unfit = Unfit({x.type().dtype, Shape(dims)})) {
    c.Refuse("its result has {}", *unfit);
  }
  const Value frame =
      zero ? c.Zeros({x.type().dtype, Shape(dims)})
           : c.BroadcastTo(c.Reshape(value, Shape(Extents(from.rank(), 1))),
                           dims);
  c.Give(0, c.Overwritten(frame, x, places));
}

}  // namespace

void ImportPad(Call& c) {
  const int mode =
      c.OneOf("mode", {std::begin(kPadModes), std::end(kPadModes)}, 0);
  Extents axes = FirstAxes(c.RankOf(0));
  if (c.Has(3)) axes = c.NeedInts(3, "axes");
  const Value value = c.Has(2) ? c.In(2) : c.ScalarLike(0, c.In(0));
  PadBy(c, c.NeedInts(1, "pads"), axes, mode, value);
}

void ImportPadByAttributes(Call& c) {
  const int mode =
      c.OneOf("mode", {std::begin(kPadModes), std::end(kPadModes)}, 0);
  const auto pads = c.Ints(c.HasAttribute("paddings") ? "paddings" : "pads");
  c.Require(pads.has_value(), "attribute 'pads' is missing");
  PadBy(c, *pads, FirstAxes(c.RankOf(0)), mode,
        c.ScalarLike(c.Float("value", 0), c.In(0)));
}

}  // namespace mxc::onnx
