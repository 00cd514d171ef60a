// SPDX-License-Identifier: Apache-2.0
// Shapes, and what moves elements without computing.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "frontend/onnx/call.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

Tensor IntTensor(Call& c, const Extents& values, bool scalar = false) {
  std::byte* to = nullptr;
  const auto count = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::Allocate(
      {DType::kI64, scalar ? Shape(Extents()) : Shape{count}}, &to);
  c.Require(!scalar || count == 1, "one number");
  if (count > 0)
    std::memcpy(to, values.data(), values.size() * sizeof(int64_t));
  return tensor;
}

// Input 0 under another shape.
void GiveReshaped(Call& c, const Shape& shape) {
  if (Call::IsEmpty(shape)) return c.GiveEmpty(c.DTypeOf(0), shape);
  if (shape == c.ShapeOf(0)) return c.Give(0, c.operand(0));
  c.Give(0, c.Reshape(c.In(0), shape));
}

// 0 keeps an extent, unless `zeros` are extents; one -1 follows.
Shape ReshapeTarget(Call& c, const Extents& codes, bool zeros) {
  const Shape& from = c.ShapeOf(0);
  c.Require(codes.size() <= kMaxTensorRank, "its shape has {} extents",
            codes.size());
  Extents dims = codes;
  int64_t rest = 1, open = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zeros) {
      c.Require(static_cast<int>(i) < from.rank(),
                "shape {} keeps axis {}, but data is {}", TupleText(codes), i,
                ToString(from));
      dims[i] = from[static_cast<int>(i)];
    }
    if (dims[i] == -1) {
      c.Require(open < 0, "shape {} leaves two extents open", TupleText(codes));
      open = static_cast<int64_t>(i);
    } else {
      c.Require(dims[i] >= 0, "shape {} has a negative extent",
                TupleText(codes));
      c.Require(dims[i] <= kMaxTensorBytes / std::max<int64_t>(1, rest),
                "shape {} is too large", TupleText(codes));
      rest *= dims[i];
    }
  }
  const int64_t elements = from.elements();
  if (open >= 0) {
    c.Require(rest > 0 && elements % rest == 0,
              "data {} cannot have the shape {}", ToString(from),
              TupleText(codes));
    dims[open] = elements / rest;
    rest *= dims[open];
  }
  c.Require(rest == elements, "data {} cannot have the shape {}",
            ToString(from), TupleText(codes));
  return dims;
}

void ReshapeTo(Call& c, const Extents& stated) {
  const Extents codes = c.Rebatched(0, stated);
  const bool zeros = c.Flag("allowzero");
  const Shape to = ReshapeTarget(c, codes, zeros);
  // The codes stay, so that the network can be read for other batches.
  const bool coded =
      std::ranges::any_of(codes, [](int64_t v) { return v <= 0; });
  if (!coded || zeros || Call::IsEmpty(to) || to == c.ShapeOf(0)) {
    return GiveReshaped(c, to);
  }
  c.Give(0, c.Op("Reshape", {c.In(0)}, {{"shape", TupleText(codes)}}));
}

}  // namespace

void ImportReshape(Call& c) { ReshapeTo(c, c.NeedInts(1, "shape")); }
void ImportReshapeByAttribute(Call& c) {
  c.Ignore("consumed_inputs");
  ReshapeTo(c, c.Ints("shape").value_or(Extents()));
}

void ImportFlatten(Call& c) {
  const Shape& from = c.ShapeOf(0);
  const int64_t axis = c.Int("axis", 1);
  c.Require(axis >= -from.rank() && axis <= from.rank(),
            "axis {} does not exist; there are {}", axis, from.rank());
  const auto split = static_cast<int>(axis < 0 ? axis + from.rank() : axis);
  int64_t rows = 1, columns = 1;
  for (int i = 0; i < from.rank(); ++i) (i < split ? rows : columns) *= from[i];
  if (split == 1 && from.rank() > 1 && !Call::IsEmpty(from)) {
    return c.Give(0, c.Op("Flatten", {c.In(0)}));
  }
  GiveReshaped(c, Shape{rows, columns});
}

namespace {

void SqueezeAxes(Call& c, const std::optional<Extents>& given) {
  const Shape& from = c.ShapeOf(0);
  Extents axes;
  if (given) {
    axes = c.Axes(*given, from.rank());
  } else {
    for (int i = 0; i < from.rank(); ++i) {
      if (from[i] == 1) axes.push_back(i);
    }
  }
  Extents dims;
  for (int i = 0; i < from.rank(); ++i) {
    if (!std::ranges::binary_search(axes, i)) {
      dims.push_back(from[i]);
      continue;
    }
    c.Require(from[i] == 1, "axis {} of {} has not the extent 1", i,
              ToString(from));
  }
  GiveReshaped(c, dims);
}

void UnsqueezeAxes(Call& c, const Extents& given) {
  const Shape& from = c.ShapeOf(0);
  const int rank = from.rank() + static_cast<int>(given.size());
  c.Require(rank <= kMaxTensorRank, "its result has {} axes", rank);
  const Extents axes = c.Axes(given, rank);
  Extents dims;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    dims.push_back(std::ranges::binary_search(axes, i) ? 1 : from[next++]);
  }
  GiveReshaped(c, dims);
}

}  // namespace

void ImportSqueeze(Call& c) {
  SqueezeAxes(c,
              c.Has(1) ? std::optional(c.NeedInts(1, "axes")) : std::nullopt);
}
void ImportSqueezeByAttribute(Call& c) { SqueezeAxes(c, c.Ints("axes")); }
void ImportUnsqueeze(Call& c) { UnsqueezeAxes(c, c.NeedInts(1, "axes")); }
void ImportUnsqueezeByAttribute(Call& c) {
  UnsqueezeAxes(c, c.Ints("axes").value_or(Extents()));
}

void ImportTranspose(Call& c) {
  const Shape& from = c.ShapeOf(0);
  Extents axes;
  for (int i = from.rank() - 1; i >= 0; --i) axes.push_back(i);
  if (const auto perm = c.Ints("perm")) {
    c.Require(static_cast<int>(perm->size()) == from.rank(),
              "perm {} is not of the {} axes of data", TupleText(*perm),
              from.rank());
    (void)c.Axes(*perm, from.rank());
    axes.clear();
    for (const int64_t axis : *perm) axes.push_back(c.Axis(axis, from.rank()));
  }
  if (Call::IsEmpty(from)) {
    Extents dims;
    for (const int64_t axis : axes)
      dims.push_back(from[static_cast<int>(axis)]);
    return c.GiveEmpty(c.DTypeOf(0), dims);
  }
  c.Give(0, c.Transpose(c.In(0), axes));
}

void ImportShape(Call& c) {
  const Shape& of = c.ShapeOf(0);
  const auto bound = [&](int64_t at) {
    if (at < 0) at += of.rank();
    return std::clamp<int64_t>(at, 0, of.rank());
  };
  const int64_t begin = bound(c.Int("start", 0));
  const int64_t end = bound(c.Int("end", kToTheEnd));
  Extents dims;
  for (int64_t i = begin; i < end; ++i) {
    dims.push_back(of[static_cast<int>(i)]);
  }
  c.Give(0, IntTensor(c, dims));
}

void ImportSize(Call& c) {
  c.Give(0, IntTensor(c, {c.ShapeOf(0).elements()}, /*scalar=*/true));
}

void ImportConstant(Call& c) {
  if (c.HasAttribute("value")) {
    int32_t data_type = 0;
    c.Give(0, c.TensorOf("value", &data_type));
    return c.SetDataType(0, data_type);
  }
  if (c.HasAttribute("value_int")) {
    return c.Give(0, IntTensor(c, {c.Int("value_int")}, /*scalar=*/true));
  }
  if (const auto ints = c.Ints("value_ints")) {
    return c.Give(0, IntTensor(c, *ints));
  }
  if (c.HasAttribute("value_float")) {
    const auto value = static_cast<float>(c.Float("value_float"));
    return c.Give(0, Tensor::FromFloats(Shape(Extents()), {&value, 1}));
  }
  if (const auto floats = c.Floats("value_floats")) {
    return c.Give(0, Tensor::FromFloats(
                         Shape{static_cast<int64_t>(floats->size())}, *floats));
  }
  c.Refuse("its value is a string or a sparse tensor, which are not supported");
}

void ImportConstantOfShape(Call& c) {
  const Shape shape = c.NeedInts(0, "shape");
  c.Require(shape.rank() <= kMaxTensorRank, "its shape has {} extents",
            shape.rank());
  Tensor value = Tensor::Filled({DType::kF32, Shape{1}}, 0);
  int32_t data_type = TensorProto::kFloat;
  if (c.HasAttribute("value")) value = c.TensorOf("value", &data_type);
  c.Require(value.shape().elements() == 1,
            "its value has {} elements, expected one",
            value.shape().elements());
  const DType dtype = value.type().dtype;
  for (const int64_t dim : shape.dims()) {
    c.Require(dim >= 0, "shape {} has a negative extent", ToString(shape));
  }
  if (Call::IsEmpty(shape)) {
    c.GiveEmpty(dtype, shape);
    return c.SetDataType(0, data_type);
  }
  if (const auto unfit = Unfit({dtype, shape})) c.Refuse("it has {}", *unfit);
  constexpr int64_t kSmall = 1 << 16;
  if (shape.elements() <= kSmall) {
    std::byte* to = nullptr;
    Tensor all = Tensor::Allocate({dtype, shape}, &to);
    const auto size = static_cast<size_t>(SizeOf(dtype));
    for (int64_t i = 0; i < shape.elements(); ++i) {
      std::memcpy(to + i * size, value.bytes(), size);
    }
    c.Give(0, std::move(all));
  } else {
    c.Give(0, c.Everywhere(c.Constant(value, "value"), shape));
  }
  c.SetDataType(0, data_type);
}

void ImportRange(Call& c) {
  const char* const words[] = {"start", "limit", "delta"};
  Element numbers[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor tensor = c.Need(i, words[i]);
    c.Require(tensor.shape().elements() == 1 && c.DTypeOf(i) == c.DTypeOf(0),
              "its {} is {}, expected one element of the type of its start",
              words[i], ToString(tensor.type()));
    numbers[i] = tensor.ExactAt(0);
  }
  const auto [start, limit, step] = numbers;
  c.Require(step != 0, "its delta is 0");
  const Element steps = std::ceil((limit - start) / step);
  constexpr Element kMost = 1 << 24;
  c.Require(!(steps > kMost), "its result has {} elements",
            static_cast<double>(steps));
  const int64_t count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  c.RequireFew(count);
  const DType dtype = c.DTypeOf(0);
  std::byte* to = nullptr;
  Tensor range = Tensor::Allocate({dtype, Shape{count}}, &to);
  for (int64_t i = 0; i < count; ++i) {
    StoreElement(to + i * SizeOf(dtype), dtype,
                 start + static_cast<Element>(i) * step);
  }
  c.Give(0, std::move(range));
}

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
  std::vector<std::string> begin(shape.rank(), "None"), end = begin,
                                                        step = begin;
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
    begin[axis] = std::to_string(first);
    end[axis] = last < 0 ? "None" : std::to_string(last);
    step[axis] =
        std::to_string(std::clamp<int64_t>(by, -extent - 1, extent + 1));
  }
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(0), dims);
  if (Shape(dims) == shape &&
      std::ranges::all_of(steps, [](int64_t by) { return by > 0; })) {
    return c.Give(0, c.operand(0));
  }
  const auto text = [](const std::vector<std::string>& words) {
    return fmt::format("({}{})", fmt::join(words, ", "),
                       words.size() == 1 ? "," : "");
  };
  c.Give(
      0,
      c.Op("slice", {c.In(0)},
           {{"begin", text(begin)}, {"end", text(end)}, {"step", text(step)}}));
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

void ImportExpand(Call& c) {
  const Extents asked = c.NeedInts(1, "shape");
  const Shape& from = c.ShapeOf(0);
  const int rank = std::max(from.rank(), static_cast<int>(asked.size()));
  c.Require(rank <= kMaxTensorRank, "its result has {} axes", rank);
  Extents dims(rank, 1);
  for (int i = 0; i < rank; ++i) {
    const int a = i - (rank - from.rank());
    const int b = i - (rank - static_cast<int>(asked.size()));
    const int64_t mine = a >= 0 ? from[a] : 1, other = b >= 0 ? asked[b] : 1;
    c.Require(mine == other || mine == 1 || other == 1,
              "data {} does not broadcast to {}", ToString(from),
              TupleText(asked));
    dims[i] = mine == 1 ? other : mine;
    c.Require(dims[i] >= 0, "shape {} has a negative extent", TupleText(asked));
  }
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(0), dims);
  if (Shape(dims) == from) return c.Give(0, c.operand(0));
  c.Give(0, c.BroadcastTo(c.In(0), dims));
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
  c.Give(0, c.Op("tile", {c.In(0)}, {{"reps", TupleText(repeats)}}));
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
      x = c.Op("take", {x, c.ConstantInts(positions, "positions")},
               {{"axis", std::to_string(axis)}, {"mode", "clip"}});
    }
    return c.Give(0, x);
  }
  // Pad of a value: a frame of it, into which the data are written.
  const bool zero = value.node->kind == Node::Kind::kConstant &&
                    value.node->constant.At(0) == 0;
  Extents dims, places, ends;
  for (int axis = 0; axis < from.rank(); ++axis) {
    places.push_back(before[axis]);
    ends.push_back(before[axis] + x.shape()[axis]);
    dims.push_back(ends.back() + after[axis]);
  }
  if (const auto unfit = Unfit({x.type().dtype, Shape(dims)})) {
    c.Refuse("its result has {}", *unfit);
  }
  const Value frame =
      zero ? c.Zeros({x.type().dtype, Shape(dims)})
           : c.BroadcastTo(c.Reshape(value, Shape(Extents(from.rank(), 1))),
                           dims);
  c.Give(0, c.Op("_slice_assign", {frame, x},
                 {{"begin", TupleText(places)}, {"end", TupleText(ends)}}));
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

// [N, C, H, W] → [N, C / b², H·b, W·b]
void ImportDepthToSpace(Call& c) {
  const int64_t b = c.Int("blocksize");
  const int crd = c.OneOf("mode", {"DCR", "CRD"}, 0);
  const Shape s = c.ShapeOf(0);
  c.Require(s.rank() == 4 && b > 0 && b <= (1 << 20) && s[1] % (b * b) == 0,
            "blocksize {} does not divide {}", b, ToString(s));
  const int64_t depth = s[1] / (b * b);
  const Shape split = crd ? Shape{s[0], depth, b, b, s[2], s[3]}
                          : Shape{s[0], b, b, depth, s[2], s[3]};
  const Extents order =
      crd ? Extents{0, 1, 4, 2, 5, 3} : Extents{0, 3, 4, 1, 5, 2};
  c.Give(0, c.Reshape(c.Transpose(c.Reshape(c.In(0), split), order),
                      Shape{s[0], depth, s[2] * b, s[3] * b}));
}

// [N, C, H, W] → [N, C·b², H / b, W / b]
void ImportSpaceToDepth(Call& c) {
  const int64_t b = c.Int("blocksize");
  const int crd = c.OneOf("mode", {"DCR", "CRD"}, 0);
  const Shape s = c.ShapeOf(0);
  c.Require(s.rank() == 4 && b > 0 && b <= (1 << 20) && s[2] % b == 0 &&
                s[3] % b == 0,
            "blocksize {} does not divide {}", b, ToString(s));
  const Value split =
      c.Reshape(c.In(0), Shape{s[0], s[1], s[2] / b, b, s[3] / b, b});
  const Extents order =
      crd ? Extents{0, 1, 3, 5, 2, 4} : Extents{0, 3, 5, 1, 2, 4};
  c.Give(0, c.Reshape(c.Transpose(split, order),
                      Shape{s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

}  // namespace mxc::onnx
