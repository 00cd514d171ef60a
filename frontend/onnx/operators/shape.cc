// SPDX-License-Identifier: Apache-2.0
// Shapes, and elements in another order.
#include <algorithm>
#include <limits>
#include <optional>

#include "frontend/onnx/call.h"
#include "ir/ops/tensor/shape/reshape.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

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
  c.Give(0, c.Op<op::Reshape>({c.In(0)}, {.shape = codes}));
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
    return c.Give(0, c.Op<op::Flatten>({c.In(0)}));
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
  c.RequireKnownShape(0);
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
  c.Give(0, IntTensor(dims, Shape{std::ssize(dims)}));
}

void ImportSize(Call& c) {
  c.RequireKnownShape(0);
  c.Give(0, IntTensor({c.ShapeOf(0).elements()}, Shape(Extents())));
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
