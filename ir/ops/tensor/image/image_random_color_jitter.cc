// SPDX-License-Identifier: Apache-2.0
// _image_random_color_jitter: the adjustments of image_color.h by chance, in an
// order by chance. Brightness, contrast and saturation change by a factor from
// 1 − j to 1 + j, hues by −j … j; what is not above 0 stays.
// C1: see image_color.h
#include "ir/ops/tensor/image/image_color.h"

namespace mxc {
namespace {

struct ColorJitterAttrs {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;

  void Describe(Fields& f) {
    f("brightness", brightness).Required().Doc("jitter of brightness");
    f("contrast", contrast).Required().Doc("jitter of contrast");
    f("saturation", saturation).Required().Doc("jitter of saturation");
    f("hue", hue).Required().Doc("jitter of hues");
  }
};

std::vector<Value> ColorJitterParts(const ColorJitterAttrs& a, const Node& node,
                                    GraphBuilder& b) {
  const std::pair<ColorAdjustment, double> stated[] = {
      {ColorAdjustment::kBrightness, a.brightness},
      {ColorAdjustment::kContrast, a.contrast},
      {ColorAdjustment::kSaturation, a.saturation},
      {ColorAdjustment::kHue, a.hue}};
  std::vector<float> kinds, widths, middles;
  for (const auto& [adjustment, jitter] : stated) {
    if (!(jitter > 0)) continue;
    kinds.push_back(static_cast<float>(adjustment));
    widths.push_back(static_cast<float>(jitter));
    middles.push_back(adjustment == ColorAdjustment::kHue ? 0 : 1);
  }
  Value picture = node.inputs[0];
  const int64_t count = std::ssize(kinds);
  if (count == 0) return {b.Op<op::Copy>({picture})};
  const Shape each{count};
  const auto constant = [&](const std::vector<float>& list, const char* role) {
    return b.Constant(Tensor::FromFloats(each, list), role);
  };
  // −1 … 1
  const Value drawn = b.Sub(b.Mul(b.Uniform(each, "factors"), 2), 1);
  const Value factors = b.Add(b.Mul(drawn, constant(widths, "widths")),
                              constant(middles, "middles"));
  const Value order = b.Op<op::Argsort>({b.Uniform(each, "order")});
  const Value which = b.Op<op::Take>({constant(kinds, "adjustments"), order});
  const Value by = b.Op<op::Take>({factors, order});
  for (int64_t i = 0; i < count; ++i) {
    picture = AdjustColors(b, picture, b.SliceAxis(which, 0, i, i + 1),
                           b.SliceAxis(by, 0, i, i + 1));
  }
  return {picture};
}

}  // namespace

MXC_OP(ImageRandomColorJitter) {
  return Op<ColorJitterAttrs>("_image_random_color_jitter")
      .Alias({"_npx__image_random_color_jitter"})
      .Doc("a picture with its colours adjusted by chance")
      .RandomIf([](const auto&, bool) { return true; })
      .Types([](const auto&, TypeInference& t) { ColorTypes(t); })
      .Decompose(ColorJitterParts)
      .PassGradient();
}

}  // namespace mxc
