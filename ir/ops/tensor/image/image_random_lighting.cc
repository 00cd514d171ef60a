// SPDX-License-Identifier: Apache-2.0
// _image_random_lighting: a picture with principal components of colours added,
// each by a normal number.
// C1: see image_color.h
#include "ir/ops/tensor/image/image_color.h"

namespace mxc {
namespace {

struct RandomLightingAttrs {
  double alpha_std = 0.05;

  void Describe(Fields& f) {
    f("alpha_std", alpha_std).Doc("standard deviation of what is drawn");
  }
};

}  // namespace

MXC_OP(ImageRandomLighting) {
  return Op<RandomLightingAttrs>("_image_random_lighting")
      .Alias({"_npx__image_random_lighting"})
      .Doc("a picture, lit differently by chance")
      .RandomIf([](const auto&, bool) { return true; })
      .Types([](const auto&, TypeInference& t) { ColorTypes(t); })
      .Decompose([](const RandomLightingAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value alpha = b.Mul(b.Normal(Shape{3}, "lighting"), a.alpha_std);
        return {AddToColors(b, node.inputs[0], LightingOf(b, alpha))};
      })
      .PassGradient();
}

}  // namespace mxc
