// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/image/image_color.h"

#include <utility>

#include "ir/ops/tensor/elementwise/clip.h"

namespace mxc {
namespace {

struct RandomColorAttrs {
  double min_factor = 0, max_factor = 0;

  void Describe(Fields& f) {
    f("min_factor", min_factor).Required().Min(0).Doc("the least factor");
    f("max_factor", max_factor).Required().Min(0).Doc("the greatest factor");
  }
};

Value LimitedTo(GraphBuilder& b, Value colors, DType dtype) {
  if (dtype == DType::kU8) {
    colors = b.Op<op::Clip>({colors}, {.a_min = 0, .a_max = 255});
  }
  return b.Cast(colors, dtype);
}

}  // namespace

void ColorTypes(TypeInference& t) {
  t.AllSameDType();
  t.AllSameShape();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  const bool picture =
      data.rank() == 3 && (!data.known(2) || data[2] == 3 || data[2] == 1);
  t.Require(picture, "C1: data has shape {}, expected (H, W, 3) or (H, W, 1)",
            ToString(data));
}

Value AdjustColors(GraphBuilder& b, Value picture, Value which, Value factor) {
  const Value colors = b.Cast(picture, DType::kF32);
  const Value grey = b.Op<op::ImageGrey>({colors});
  return LimitedTo(b, b.Op<op::ImageAdjust>({colors, grey, which, factor}),
                   picture.type().dtype);
}

Value DrawFactor(GraphBuilder& b, double low, double high) {
  return b.Add(b.Mul(b.Uniform(Shape{1}, "factor"), high - low), low);
}

Value AddToColors(GraphBuilder& b, Value picture, Value added) {
  if (picture.shape()[2] == 1) return picture;
  return LimitedTo(
      b, b.Add(b.Cast(picture, DType::kF32), b.Reshape(added, Shape{1, 1, 3})),
      picture.type().dtype);
}

Value LightingOf(GraphBuilder& b, Value alpha) {
  // Eigenvectors of the colours of ImageNet, times their eigenvalues.
  static constexpr float kComponents[] = {
      55.46F * -0.5675F, 4.794F * 0.7192F,  1.148F * 0.4009F,
      55.46F * -0.5808F, 4.794F * -0.0045F, 1.148F * -0.8140F,
      55.46F * -0.5836F, 4.794F * -0.6948F, 1.148F * 0.4203F};
  const Value components =
      b.Constant(Tensor::FromFloats(Shape{3, 3}, kComponents), "components");
  return b.Sum(b.Mul(components, b.Reshape(alpha, Shape{1, 3})), {1});
}

Operator RandomColorOperator(const std::string& name, std::string doc,
                             ColorAdjustment adjustment) {
  const std::string full = "_image_random_" + name;
  return Op<RandomColorAttrs>(full)
      .Alias({"_npx_" + full})
      .Doc(std::move(doc))
      .RandomIf([](const auto&, bool) { return true; })
      .Types([](const auto&, TypeInference& t) { ColorTypes(t); })
      .Decompose([adjustment](const RandomColorAttrs& a, const Node& node,
                              GraphBuilder& b) -> std::vector<Value> {
        const Value factor = DrawFactor(b, a.min_factor, a.max_factor);
        return {AdjustColors(b, node.inputs[0],
                             b.Scalar(static_cast<double>(adjustment)),
                             factor)};
      })
      .PassGradient();
}

Operator RandomFlipOperator(const std::string& name, std::string doc,
                            const Operator& (*flip)()) {
  const std::string full = "_image_random_flip_" + name;
  return Op<>(full)
      .Alias({"_npx_" + full})
      .Doc(std::move(doc))
      .RandomIf([](const auto&, bool) { return true; })
      .Types([](const NoAttrs&, TypeInference& t) { ColorTypes(t); })
      .Decompose([flip](const NoAttrs&, const Node& node,
                        GraphBuilder& b) -> std::vector<Value> {
        const Value half = b.Scalar(0.5);
        const Value stays = b.Greater(half, b.Uniform(Shape{1}, "side"));
        const Value flipped = b.Op(flip(), {node.inputs[0]});
        return {b.Op<op::NpiWhere>({stays, node.inputs[0], flipped})};
      })
      .PassGradient();
}

}  // namespace mxc
