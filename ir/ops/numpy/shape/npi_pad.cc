// SPDX-License-Identifier: Apache-2.0
// _npi_pad: data with a border around its axes.
// constant: constant_value; edge: the nearest element; reflect: the elements
// mirrored at the border, which is not repeated; symmetric: which is.
// C1  pad_width holds two numbers of at least 0 for each axis
// C2  reflect pads by less than the extent, symmetric by no more than it
// C3  mode and reflect_type are these, and even
#include <algorithm>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/slicing.h"

namespace mxc {
namespace {

enum class NpPadMode : int { kConstant, kEdge, kReflect, kSymmetric };

struct NpiPadAttrs {
  std::string pad_width;
  NpPadMode mode = NpPadMode::kConstant;
  double constant_value = 0;
  std::string reflect_type = "even";

  void Describe(Fields& f) {
    f("pad_width", pad_width).Required().Doc("((before, after), …)");
    f("mode", mode)
        .OneOf({"constant", "edge", "reflect", "symmetric"})
        .Doc("what the border holds");
    f("constant_value", constant_value).Doc("the border of mode constant");
    f("reflect_type", reflect_type).OneOf({"even"}).Doc("how it is mirrored");
  }

  // The numbers of pad_width, of which none has more than nine digits.
  std::optional<Extents> widths() const {
    Extents found;
    bool open = false;
    for (const char c : pad_width) {
      if (c < '0' || c > '9') {
        if (c == '-') return std::nullopt;
        open = false;
        continue;
      }
      if (!open) found.push_back(0);
      open = true;
      found.back() = found.back() * 10 + (c - '0');
      if (found.back() > 999999999) return std::nullopt;
    }
    return found;
  }
};

void NpiPadTypes(const NpiPadAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const auto widths = attrs.widths();
  Shape out = t.In(0);
  if (!t.Require(
          widths && static_cast<int>(widths->size()) == 2 * out.rank(),
          "C1: pad_width is {}, expected two numbers for each axis of {}",
          attrs.pad_width, ToString(out))) {
    return;
  }
  for (int axis = 0; axis < out.rank(); ++axis) {
    const int64_t before = (*widths)[2 * axis], after = (*widths)[2 * axis + 1];
    const int64_t most = attrs.mode == NpPadMode::kReflect ? out[axis] - 1
                         : attrs.mode == NpPadMode::kSymmetric
                             ? out[axis]
                             : std::max(before, after);
    if (!t.Require(std::max(before, after) <= most,
                   "C2: an axis with extent {} is mirrored by {} and {}",
                   out[axis], before, after)) {
      return;
    }
    out[axis] += before + after;
  }
  t.SetOut(0, out);
}

// Where the element at `i`, counted from the first of data, comes from.
Expr NpPadSource(NpPadMode mode, const Expr& i, int64_t extent) {
  if (mode == NpPadMode::kEdge) return Min(Max(i, 0), extent - 1);
  const int64_t twice = mode == NpPadMode::kReflect ? 0 : 1;
  const Expr mirrored = Max(i, -i - twice);
  return Min(mirrored, Expr(2 * (extent - 1) + twice) - mirrored);
}

void NpiPadMeaning(const NpiPadAttrs& attrs, Definition& def) {
  const Shape& data = def.InShape(0);
  const Extents widths = *attrs.widths();
  std::vector<Expr> index = def.Indices();
  Expr inside = Constant(1, DType::kBool);
  for (int axis = 0; axis < data.rank(); ++axis) {
    if (widths[2 * axis] + widths[2 * axis + 1] == 0) continue;
    const Expr i = index[axis] - widths[2 * axis];
    if (attrs.mode == NpPadMode::kConstant) {
      inside = inside && i >= 0 && i < data[axis];
      index[axis] = i;
    } else {
      index[axis] = NpPadSource(attrs.mode, i, data[axis]);
    }
  }
  def.Set(0, Select(inside, def.In(0, index), def.Lit(attrs.constant_value)));
}

std::vector<Value> NpiPadGradient(const NpiPadAttrs& attrs,
                                  GradientBuilder& g) {
  if (attrs.mode != NpPadMode::kConstant) return MeaningGradientOfData(g);
  const Shape& in = g.In(0).shape();
  const Extents widths = *attrs.widths();
  SliceAttrs part;
  for (int axis = 0; axis < in.rank(); ++axis) {
    part.begin.push_back(widths[2 * axis]);
    part.end.push_back(*part.begin.back() + in[axis]);
  }
  return {g.Op<op::Slice>({g.Head()}, part)};
}

}  // namespace

MXC_OP(NpiPad) {
  return Op<NpiPadAttrs>("_npi_pad")
      .Doc("numpy.pad")
      .Types(NpiPadTypes)
      .Meaning(NpiPadMeaning)
      .Gradient(NpiPadGradient);
}

}  // namespace mxc
