// SPDX-License-Identifier: Apache-2.0
// _image_adjust: colours of a picture, adjusted; our own operator.
//   data    f32[H, W, C], C 1 or 3
//   grey    f32[1]: of _image_grey
//   which   f32[1]: a ColorAdjustment of image_color.h
//   factor  f32[1]
//   output  f32[H, W, C]
// A picture of one colour keeps its saturation and hue.
// Hues as in Foley and van Dam's double cone of hue, lightness and saturation.
#include "ir/ops/tensor/image/image_color.h"

namespace mxc {
namespace {

struct Rgb {
  Expr red, green, blue;
};

Expr F32(double number) { return Constant(number, DType::kF32); }

// A colour turned by that part of the circle, from 0 to 255.
Rgb TurnedHue(const Rgb& color, const Expr& part) {
  const Expr r = color.red / F32(255), g = color.green / F32(255),
             b = color.blue / F32(255);
  const Expr most = Max(Max(r, g), b), least = Min(Min(r, g), b);
  const Expr range = most - least, sum = most + least;
  const Expr light = sum * F32(0.5);
  const Expr saturation =
      range / Select(light < F32(0.5), sum, F32(2) - most - least);
  // In sixths of the circle.
  const Expr place = Select(
      most == r, (g - b) / range,
      Select(most == g, (b - r) / range + F32(2), (r - g) / range + F32(4)));
  const Expr hue = place + part * F32(6);
  const Expr turns = Unary(UnaryOp::kFloor, hue / F32(6));
  const Expr h = hue - turns * F32(6);
  const Expr high = Select(light <= F32(0.5), light * (F32(1) + saturation),
                           light + saturation - light * saturation);
  const Expr low = F32(2) * light - high;
  // A colour whose hue is `shift` sixths further on: it rises in the first sixth,
  // is high in two, falls in the fourth, and is low.
  const auto channel = [&](double shift) {
    const Expr moved = h + F32(shift);
    const Expr at = Select(moved < F32(6), moved, moved - F32(6));
    const Expr rising = low + (high - low) * at;
    const Expr falling = low + (high - low) * (F32(4) - at);
    const Expr value =
        Select(at < F32(1), rising,
               Select(at < F32(3), high, Select(at < F32(4), falling, low)));
    // MXNet's float epsilon: greys have no hue.
    return Select(F32(0x1p-23) < range, value, light) * F32(255);
  };
  return {channel(2), channel(0), channel(4)};
}

void ImageAdjustMeaning(const NoAttrs&, Definition& def) {
  const bool grey = def.OutShape()[2] == 1;
  const Expr x = def.In(0, def.Indices());
  const Expr mean = def.In(1, {0}), which = def.In(2, {0}),
             factor = def.In(3, {0});
  const auto color = [&](int channel) {
    return def.In(0, {Var(0), Var(1), Expr(channel)});
  };
  const auto is = [&](ColorAdjustment adjustment) {
    return which == F32(static_cast<double>(adjustment));
  };
  const Expr rest = F32(1) - factor;
  Expr saturated = x, turned = x;
  if (!grey) {
    saturated = color(2) * F32(0.114) * rest + x * factor;
    const auto [r, g, b] = TurnedHue({color(0), color(1), color(2)}, factor);
    turned = Select(Var(2) == Expr(0), r, Select(Var(2) == Expr(1), g, b));
  }
  def.Set(
      0, Select(is(ColorAdjustment::kBrightness), x * factor,
                Select(is(ColorAdjustment::kContrast), x * factor + rest * mean,
                       Select(is(ColorAdjustment::kSaturation), saturated,
                              turned))));
}

}  // namespace

MXC_OP(ImageAdjust) {
  return Op<>("_image_adjust")
      .Doc("colours of a picture, adjusted")
      .Inputs({{"data"}, {"grey"}, {"which"}, {"factor"}})
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, t.InDType(0));
        t.SetOut(0, t.In(0));
      })
      .Meaning(ImageAdjustMeaning)
      .Internal();
}

}  // namespace mxc
