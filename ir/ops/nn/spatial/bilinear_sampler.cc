// SPDX-License-Identifier: Apache-2.0
// BilinearSampler: an image read at the points of a grid.
//   data    f[N, C, H, W]
//   grid    f[N, 2, h, w]   x, then y; −1 and 1 are the centres of the border
//   output  f[N, C, h, w]   interpolated; cells outside the image are 0
//   tmp     f[N, h, w, 2]   hidden
// C1  data and grid have 4 axes, grid 2 coordinates, and both the same N
// Source: MXNet 1.9.1 operator/bilinear_sampler.cc.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/bilinear.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct BilinearSamplerAttrs {
  std::optional<bool> cudnn_off;

  void Describe(Fields& f) { f("cudnn_off", cudnn_off).Hint(); }
};

void BilinearSamplerTypes(const BilinearSamplerAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape &data = t.In(0), &grid = t.In(1);
  if (!data.known_rank() || !grid.known_rank()) return;
  if (!t.Require(data.rank() == 4 && grid.rank() == 4,
                 "C1: data has shape {} and grid {}, expected 4 axes",
                 ToString(data), ToString(grid)) ||
      !data.known() || !grid.known()) {
    return;
  }
  if (!t.Require(grid[1] == 2 && grid[0] == data[0],
                 "C1: grid has shape {}, expected ({}, 2, h, w)",
                 ToString(grid), data[0])) {
    return;
  }
  t.SetOut(0, {data[0], data[1], grid[2], grid[3]});
  t.SetOut(1, {data[0], grid[2], grid[3], 2});
}

void BilinearSamplerMeaning(const BilinearSamplerAttrs&, Definition& def) {
  const Shape& data = def.InShape(0);
  // From −1 … 1 to cells.
  const auto cells = [&](Expr coordinate, int64_t extent) {
    return (coordinate + def.Lit(1)) *
           def.Lit(static_cast<double>(extent - 1) / 2);
  };
  const std::vector<Expr> i = def.Indices();
  def.Set(0, BilinearWithZeros(cells(def.In(1, {i[0], 1, i[2], i[3]}), data[2]),
                               cells(def.In(1, {i[0], 0, i[2], i[3]}), data[3]),
                               data[2], data[3], [&](Expr y, Expr x) {
                                 return def.In(0, {i[0], i[1], y, x});
                               }));
  const std::vector<Expr> k = def.Indices(1);
  def.Set(1, def.In(1, {k[0], k[3], k[1], k[2]}));
}

}  // namespace

MXC_OP(BilinearSampler) {
  return Op<BilinearSamplerAttrs>("BilinearSampler")
      .Doc("an image read at the points of a grid")
      .Inputs({{"data"}, {"grid"}})
      .Outputs({"output", "tmp"}, 1)
      .Types(BilinearSamplerTypes)
      .FloatsOnly()
      .Meaning(BilinearSamplerMeaning)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
