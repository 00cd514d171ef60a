// SPDX-License-Identifier: Apache-2.0
// Pad: data with a border around its spatial axes.
//   data    t[N, C, d1 … dk]       k = 2, 3
//   output  t[N, C, before + d + after …]
// constant: constant_value; edge: the nearest element; reflect: the elements
// mirrored at the border, which is not repeated.
// C1  pad_width holds a pair for each axis, data has rank 4 or 5
// C2  the first two axes are not padded
// C3  reflect pads by less than the extent
#include "ir/ops/tensor/shape/pad.h"

#include "ir/ops/tensor/indexing/slicing.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/pad_gradient.h"

namespace mxc {
namespace {

std::optional<std::string> CheckPad(const PadAttrs& attrs) {
  const Extents& w = attrs.pad_width;
  if (w.size() != 8 && w.size() != 10) {
    return fmt::format("C1: pad_width has {} entries, expected 8 or 10",
                       w.size());
  }
  if (w[0] != 0 || w[1] != 0 || w[2] != 0 || w[3] != 0) {
    return fmt::format(
        "C2: pad_width {} pads one of the first two axes, expected 0",
        ToString(w));
  }
  return std::nullopt;
}

void PadTypes(const PadAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int rank = t.In(0).rank();
  if (!t.Require(2 * rank == static_cast<int>(attrs.pad_width.size()),
                 "C1: pad_width has {} entries, data of rank {} needs {}",
                 attrs.pad_width.size(), rank, 2 * rank)) {
    return;
  }
  Shape out = t.In(0);
  for (int axis = 0; axis < rank; ++axis) {
    if (!out.known(axis)) continue;
    const int64_t before = attrs.pad_width[2 * axis];
    const int64_t after = attrs.pad_width[2 * axis + 1];
    if (!t.Require(attrs.mode != PadMode::kReflect ||
                       std::max(before, after) < out[axis],
                   "C3: reflect pads axis {} with extent {} by {} and {}", axis,
                   out[axis], before, after)) {
      return;
    }
    out[axis] += before + after;
  }
  t.SetOut(0, out);
}

// Where the element at `i`, counted from the first of data, comes from.
Expr PadSource(PadMode mode, Expr i, int64_t extent) {
  if (mode == PadMode::kEdge) return Min(Max(i, 0), extent - 1);
  const Expr mirrored = Max(i, -i);
  return Min(mirrored, Expr(2 * (extent - 1)) - mirrored);
}

void PadMeaning(const PadAttrs& attrs, Definition& def) {
  const Shape& data = def.InShape(0);
  std::vector<Expr> index = def.Indices();
  Expr inside = Constant(1, DType::kBool);
  for (int axis = 0; axis < data.rank(); ++axis) {
    const int64_t before = attrs.pad_width[2 * axis];
    if (before + attrs.pad_width[2 * axis + 1] == 0) continue;
    const Expr i = index[axis] - before;
    if (attrs.mode == PadMode::kConstant) {
      inside = inside && i >= 0 && i < data[axis];
      index[axis] = i;
    } else {
      index[axis] = PadSource(attrs.mode, i, data[axis]);
    }
  }
  def.Set(0, Select(inside, def.In(0, index), def.Lit(attrs.constant_value)));
}

std::vector<Value> PadGradient(const PadAttrs& attrs, GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  if (attrs.mode != PadMode::kConstant) {
    return {g.Op<op::PadGradient>(
        {g.Head()},
        {.mode = attrs.mode == PadMode::kEdge ? PadBorderMode::kEdge
                                              : PadBorderMode::kReflect,
         .pad_width = attrs.pad_width})};
  }
  SliceAttrs part;
  for (int axis = 0; axis < in.rank(); ++axis) {
    part.begin.push_back(attrs.pad_width[2 * axis]);
    part.end.push_back(*part.begin.back() + in[axis]);
  }
  return {g.Op<op::Slice>({g.Head()}, part)};
}

}  // namespace

MXC_OP(Pad) {
  return Op<PadAttrs>("Pad")
      .Alias({"pad"})
      .Doc("a border around the spatial axes")
      .Check(CheckPad)
      .Types(PadTypes)
      .Meaning(PadMeaning)
      .Gradient(PadGradient);
}

}  // namespace mxc
