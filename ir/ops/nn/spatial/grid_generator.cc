// SPDX-License-Identifier: Apache-2.0
// GridGenerator: the points at which BilinearSampler reads an image.
//   affine  data f[N, 6]        (x', y') = (θ0·x + θ1·y + θ2, θ3·x + θ4·y + θ5)
//   warp    data f[N, 2, h, w]  a flow in cells, x then y, added to each point
//   output  f[N, 2, h, w]       x, then y; −1 and 1 are the centres of the
//   border grid_dst  f[3, h·w] (affine) or f[2, h, w] (warp): the points,
//   hidden
// C1  affine has data with 6 columns, and a target_shape (h, w) above 0
// C2  warp has data with 4 axes and 2 coordinates
// Source: MXNet 1.9.1 operator/grid_generator-inl.h.
#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/grid_generator.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

std::optional<std::string> GridGeneratorCheck(const GridGeneratorAttrs& a) {
  if (!a.affine() || (a.target_shape.size() == 2 && a.target_shape[0] > 0 &&
                      a.target_shape[1] > 0)) {
    return std::nullopt;
  }
  return fmt::format("C1: target_shape is {}, expected (h, w) above 0",
                     ToString(a.target_shape));
}

void GridGeneratorTypes(const GridGeneratorAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known()) return;
  if (a.affine()) {
    if (!t.Require(data.rank() == 2 && data[1] == 6,
                   "C1: data has shape {}, expected (N, 6)", ToString(data))) {
      return;
    }
    const int64_t h = a.target_shape[0], w = a.target_shape[1];
    t.SetOut(0, {data[0], 2, h, w});
    t.SetOut(1, {3, CheckedProduct({h, w}).value_or(Shape::kUnknownDim)});
    return;
  }
  if (!t.Require(data.rank() == 4 && data[1] == 2,
                 "C2: data has shape {}, expected (N, 2, h, w)",
                 ToString(data))) {
    return;
  }
  t.SetOut(0, data);
  t.SetOut(1, {2, data[2], data[3]});
}

// A position of `extent` as a coordinate.
Expr Coordinate(const Definition& def, Expr position, int64_t extent) {
  const double step = extent > 1 ? 2.0 / static_cast<double>(extent - 1) : 0;
  return Cast(position, def.OutDType()) * def.Lit(step) - def.Lit(1);
}

void AffineMeaning(Definition& def) {
  const Shape& out = def.OutShape();
  const std::vector<Expr> i = def.Indices();
  const Expr x = Coordinate(def, i[3], out[3]);
  const Expr y = Coordinate(def, i[2], out[2]);
  const auto theta = [&](int k) { return def.In(0, {i[0], i[1] * 3 + k}); };
  def.Set(0, theta(0) * x + theta(1) * y + theta(2));

  const std::vector<Expr> k = def.Indices(1);
  const Expr column = Coordinate(def, k[1] % out[3], out[3]);
  const Expr row = Coordinate(def, k[1] / out[3], out[2]);
  def.Set(1, Select(k[0] == 0, column, Select(k[0] == 1, row, def.Lit(1))));
}

void WarpMeaning(Definition& def) {
  const Shape& out = def.OutShape();
  const std::vector<Expr> i = def.Indices();
  const auto at = [&](Expr position, int64_t extent) {
    const double half = static_cast<double>(extent - 1) / 2;
    return (def.In(0, i) + Cast(position, def.OutDType())) / def.Lit(half) -
           def.Lit(1);
  };
  def.Set(0, Select(i[1] == 0, at(i[3], out[3]), at(i[2], out[2])));
  const std::vector<Expr> k = def.Indices(1);
  def.Set(1, Cast(Select(k[0] == 0, k[2], k[1]), def.OutDType()));
}

void GridGeneratorMeaning(const GridGeneratorAttrs& a, Definition& def) {
  return a.affine() ? AffineMeaning(def) : WarpMeaning(def);
}

}  // namespace

MXC_OP(GridGenerator) {
  return Op<GridGeneratorAttrs>("GridGenerator")
      .Doc("the points at which BilinearSampler reads an image")
      .Outputs({"output", "grid_dst"}, 1)
      .Check(GridGeneratorCheck)
      .Types(GridGeneratorTypes)
      .FloatsOnly()
      .Meaning(GridGeneratorMeaning)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
