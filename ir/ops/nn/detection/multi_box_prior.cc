// SPDX-License-Identifier: Apache-2.0
// _contrib_MultiBoxPrior: the anchor boxes of a feature map.
//   data    f[N, C, H, W]          only its size matters
//   output  f[1, H·W·A, 4]         x1, y1, x2, y2 in parts of the image; for
//           each cell, row by row: all sizes with the first ratio, then the
//           first size with the other ratios; A = sizes + ratios − 1
// A box of size s and ratio r has width s·√r·H / W and height s / √r, and is
// centred at ((x + offsets[1])·steps[1], (y + offsets[0])·steps[0]).
// C1  data has at least 4 axes
// C2  there are 1 to 256 sizes and ratios, positive; steps and offsets have 2
//     entries
// Source: MXNet 1.9.1 operator/contrib/multibox_prior.cc (as since 1.5).
#include <algorithm>
#include <cmath>

#include "ir/ops/op.h"

namespace mxc {
namespace {

constexpr size_t kMostBoxes = 256;

struct MultiBoxPriorAttrs {
  std::vector<double> sizes = {1}, ratios = {1};
  bool clip = false;
  std::vector<double> steps = {-1, -1}, offsets = {0.5, 0.5};

  void Describe(Fields& f) {
    f("sizes", sizes).Doc("of boxes, in parts of the image");
    f("ratios", ratios).Doc("width to height");
    f("clip", clip).Doc("whether boxes end at the image's border");
    f("steps", steps).Doc("between cells, (y, x); −1 is one cell");
    f("offsets", offsets).Doc("of the centre in a cell, (y, x)");
  }
  int64_t boxes() const {
    return static_cast<int64_t>(sizes.size() + ratios.size()) - 1;
  }
};

std::optional<std::string> MultiBoxPriorCheck(const MultiBoxPriorAttrs& a) {
  const auto positive = [](const std::vector<double>& list) {
    return !list.empty() && list.size() <= kMostBoxes &&
           std::ranges::all_of(list, [](double x) { return x > 0; });
  };
  if (!positive(a.sizes) || !positive(a.ratios)) {
    return "C2: sizes and ratios must be 1 to 256 positive numbers each";
  }
  if (a.steps.size() != 2 || a.offsets.size() != 2) {
    return "C2: steps and offsets must have 2 entries";
  }
  return std::nullopt;
}

void MultiBoxPriorTypes(const MultiBoxPriorAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() >= 4, "C1: data has {} axes, expected at least 4",
                 data.rank()) ||
      !data.known()) {
    return;
  }
  const auto boxes = CheckedProduct({data[2], data[3], a.boxes()});
  t.SetOut(0, {1, boxes.value_or(Shape::kUnknownDim), 4});
}

// Half the extent of box k along axis d (0: x, 1: y).
double HalfExtent(const MultiBoxPriorAttrs& a, int64_t k, int d,
                  const Shape& data) {
  const auto sizes = static_cast<int64_t>(a.sizes.size());
  const double size = k < sizes ? a.sizes[k] : a.sizes[0];
  const double root =
      std::sqrt(k < sizes ? a.ratios[0] : a.ratios[k - sizes + 1]);
  const double aspect =
      static_cast<double>(data[2]) / static_cast<double>(data[3]);
  return d == 0 ? size * aspect * root / 2 : size / root / 2;
}

void MultiBoxPriorMeaning(const MultiBoxPriorAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& data = def.InShape(0);
  const Expr box = i[1] % a.boxes(), cell = i[1] / a.boxes();
  const auto edge = [&](int d) {  // 0: x, 1: y
    const double given = a.steps[1 - d];
    const double step =
        given > 0 ? given : 1 / static_cast<double>(data[3 - d]);
    const Expr position = d == 0 ? cell % data[3] : cell / data[3];
    const Expr centre =
        (Cast(position, def.OutDType()) + def.Lit(a.offsets[1 - d])) *
        def.Lit(step);
    Expr half = def.Lit(HalfExtent(a, a.boxes() - 1, d, data));
    for (int64_t k = a.boxes() - 2; k >= 0; --k) {
      half = Select(box == k, def.Lit(HalfExtent(a, k, d, data)), half);
    }
    return Select(i[2] < 2, centre - half, centre + half);
  };
  Expr value = Select(i[2] % 2 == 0, edge(0), edge(1));
  if (a.clip) value = Min(Max(value, def.Lit(0)), def.Lit(1));
  def.Set(0, value);
}

}  // namespace

MXC_OP(MultiBoxPrior) {
  return Op<MultiBoxPriorAttrs>("_contrib_MultiBoxPrior")
      .Doc("the anchor boxes of a feature map")
      .Alias({"MultiBoxPrior", "_npx_multibox_prior"})
      .Check(MultiBoxPriorCheck)
      .Types(MultiBoxPriorTypes)
      .FloatsOnly()
      .Meaning(MultiBoxPriorMeaning)
      .ZeroGradient();
}

}  // namespace mxc
