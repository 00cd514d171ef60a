// SPDX-License-Identifier: Apache-2.0
// SpatialTransformer: an affine transformation of each image.
//   data      f[N, C, H, W]
//   loc       f[N, 6]          as data of GridGenerator
//   output    f[N, C, h, w]    BilinearSampler(data, GridGenerator(loc))
//   grid_dst  f[3, h·w], grid_src f[N, 2, h, w]   hidden
// C1  target_shape is (h, w) above 0
// C2  data has 4 axes, and loc 6 columns
// Source: MXNet 1.9.1 operator/spatial_transformer.cc.
#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/grid_generator.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

enum class AffineOnly : int { kAffine };
enum class BilinearOnly : int { kBilinear };

struct SpatialTransformerAttrs {
  Extents target_shape = {0, 0};
  AffineOnly transform_type = AffineOnly::kAffine;
  BilinearOnly sampler_type = BilinearOnly::kBilinear;
  std::optional<bool> cudnn_off;

  void Describe(Fields& f) {
    f("target_shape", target_shape).Doc("(h, w)");
    f("transform_type", transform_type).OneOf({"affine"}).Required();
    f("sampler_type", sampler_type).OneOf({"bilinear"}).Required();
    f("cudnn_off", cudnn_off).Hint();
  }
};

std::optional<std::string> SpatialTransformerCheck(
    const SpatialTransformerAttrs& a) {
  if (a.target_shape.size() == 2 && a.target_shape[0] > 0 &&
      a.target_shape[1] > 0) {
    return std::nullopt;
  }
  return fmt::format("C1: target_shape is {}, expected (h, w) above 0",
                     ToString(a.target_shape));
}

void SpatialTransformerTypes(const SpatialTransformerAttrs& a,
                             TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() == 4, "C2: data has {} axes, expected 4",
                 data.rank()) ||
      !t.Require(
          !t.In(1).known() || !data.known(0) || t.In(1) == Shape{data[0], 6},
          "C2: loc has shape {}, expected ({}, 6)", ToString(t.In(1)),
          data[0])) {
    return;
  }
  const int64_t h = a.target_shape[0], w = a.target_shape[1];
  t.SetIn(1, {data[0], 6});
  t.SetOut(0, {data[0], data[1], h, w});
  t.SetOut(1, {3, CheckedProduct({h, w}).value_or(Shape::kUnknownDim)});
  t.SetOut(2, {data[0], 2, h, w});
}

GridGeneratorAttrs GridAttrs(const SpatialTransformerAttrs& a) {
  return {.transform_type = GridTransform::kAffine,
          .target_shape = a.target_shape};
}

std::vector<Value> SpatialTransformerParts(const SpatialTransformerAttrs& a,
                                           const Node& node, GraphBuilder& b) {
  const std::vector<Value> grid =
      b.Ops<op::GridGenerator>({node.inputs[1]}, GridAttrs(a), "grid");
  return {b.Op<op::BilinearSampler>({node.inputs[0], grid[0]}, "sample"),
          grid[1], grid[0]};
}

std::vector<Value> SpatialTransformerGradient(const SpatialTransformerAttrs& a,
                                              GradientBuilder& g) {
  const auto of_sampler = [&](int input) {
    return MeaningGradientOf(g, "BilinearSampler", {}, {g.In(0), g.Out(2)},
                             input, g.Head());
  };
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) gradients[0] = of_sampler(0);
  if (g.Needs(1)) {
    const Operator& grid = OperatorOf<op::GridGenerator>();
    const GridGeneratorAttrs attrs = GridAttrs(a);
    gradients[1] = MeaningGradientOf(g, grid.name, grid.print(&attrs),
                                     {g.In(1)}, 0, of_sampler(1));
  }
  return gradients;
}

}  // namespace

MXC_OP(SpatialTransformer) {
  return Op<SpatialTransformerAttrs>("SpatialTransformer")
      .Doc("an affine transformation of each image")
      .Inputs({{"data"}, {"loc"}})
      .Outputs({"output", "grid_dst", "grid_src"}, 1)
      .Check(SpatialTransformerCheck)
      .Types(SpatialTransformerTypes)
      .FloatsOnly()
      .Decompose(SpatialTransformerParts)
      .Gradient(SpatialTransformerGradient);
}

}  // namespace mxc
