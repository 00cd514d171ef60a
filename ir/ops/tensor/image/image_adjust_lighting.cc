// SPDX-License-Identifier: Apache-2.0
// _image_adjust_lighting: a picture with principal components of colours added.
// C1: see image_color.h
// C2  alpha has three numbers
#include "ir/ops/tensor/image/image_color.h"

namespace mxc {
namespace {

struct AdjustLightingAttrs {
  std::vector<double> alpha;

  void Describe(Fields& f) {
    f("alpha", alpha).Required().Doc("how much of each component");
  }
};

}  // namespace

MXC_OP(ImageAdjustLighting) {
  using Attrs = AdjustLightingAttrs;
  return Op<Attrs>("_image_adjust_lighting")
      .Alias({"_npx__image_adjust_lighting"})
      .Doc("a picture with principal components of colours added")
      .Check([](const Attrs& a) -> std::optional<std::string> {
        if (a.alpha.size() == 3) return std::nullopt;
        return fmt::format("C2: alpha has {} numbers, expected 3",
                           a.alpha.size());
      })
      .Types([](const Attrs&, TypeInference& t) { ColorTypes(t); })
      .Decompose([](const Attrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const std::vector<float> numbers(a.alpha.begin(), a.alpha.end());
        const Value alpha =
            b.Constant(Tensor::FromFloats(Shape{3}, numbers), "alpha");
        return {AddToColors(b, node.inputs[0], LightingOf(b, alpha))};
      })
      .PassGradient();
}

}  // namespace mxc
