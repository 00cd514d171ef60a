// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "runtime/data/picture/values.h"
#include "runtime/data/picture/warp.h"

namespace mxc::data {
namespace {

// Hue in [0, 360), lightness and saturation in [0, 1].
struct Hls {
  double hue = 0, light = 0, saturation = 0;
};

Hls HlsOf(const uint8_t* rgb) {
  const double r = rgb[0] / 255.0, g = rgb[1] / 255.0, b = rgb[2] / 255.0;
  const double most = std::max({r, g, b}), least = std::min({r, g, b});
  const double range = most - least, light = (most + least) / 2;
  if (range == 0) return {0, light, 0};
  double hue = most == r   ? (g - b) / range
               : most == g ? 2 + (b - r) / range
                           : 4 + (r - g) / range;
  if (hue < 0) hue += 6;
  return {60 * hue, light, range / (1 - std::abs(2 * light - 1))};
}

void WriteRgb(const Hls& color, uint8_t* rgb) {
  const double range = (1 - std::abs(2 * color.light - 1)) * color.saturation;
  const double least = color.light - range / 2;
  const double sixth = color.hue / 60;
  for (int c = 0; c < 3; ++c) {
    // How far the hue is from the channel's own: 0, 120, 240 degrees.
    double away = std::abs(sixth - 2 * c);
    away = std::min(away, 6 - away);
    rgb[c] = ToByte(255 * (least + range * std::clamp(2 - away, 0.0, 1.0)));
  }
}

// Adds to hue, lightness and saturation; in MXNet hue has 180 steps.
void ChangeHls(const LookOptions& options, Draws& draws, Picture* picture) {
  if (picture->channels == 1 ||
      options.random_h + options.random_s + options.random_l == 0) {
    return;
  }
  const auto change = [&](int64_t most) {
    return static_cast<double>(
               draws.Below(static_cast<uint64_t>(2 * most + 1))) -
           static_cast<double>(most);
  };
  const double hue = 2 * change(options.random_h);
  const double saturation = change(options.random_s) / 255;
  const double light = change(options.random_l) / 255;
  for (size_t i = 0; i < picture->pixels.size(); i += 3) {
    Hls color = HlsOf(&picture->pixels[i]);
    color.hue = std::fmod(color.hue + hue + 360, 360);
    color.saturation = std::clamp(color.saturation + saturation, 0.0, 1.0);
    color.light = std::clamp(color.light + light, 0.0, 1.0);
    WriteRgb(color, &picture->pixels[i]);
  }
}

}  // namespace

void Warp(const LookOptions& options, uint8_t fill, Draws& draws,
          Picture* picture) {
  const bool turns = options.max_rotate_angle > 0 || options.rotate > 0;
  if (!turns && options.max_shear_ratio == 0) return;
  const double shear =
      draws.Between(-options.max_shear_ratio, options.max_shear_ratio);
  const auto room = static_cast<uint64_t>(2 * options.max_rotate_angle + 1);
  int64_t angle =
      static_cast<int64_t>(draws.Below(room)) - options.max_rotate_angle;
  if (options.rotate > 0) angle = options.rotate;
  const double radians = static_cast<double>(angle) * std::numbers::pi / 180;
  const double a = std::cos(radians), b = std::sin(radians);
  const Matrix to{a - shear * b, b + shear * a, -b, a};
  *picture = Mapped(*picture, to.Inverse(), CenterOf(*picture), fill);
}

void ChangeColors(const LookOptions& options, Draws& draws, Picture* picture) {
  if (!options.changes_colors()) return;
  const auto factor = [&](double most) {
    return most > 0 ? 1 + draws.Between(-most, most) : 1;
  };
  const std::array<double, 3> factors = {factor(options.brightness),
                                         factor(options.contrast),
                                         factor(options.saturation)};
  constexpr std::array kChanges = {&Brighten, &Contrast, &Saturate};
  std::array<int, 3> order = {0, 1, 2};
  for (size_t left = 3; left > 1; --left) {
    std::swap(order[left - 1], order[draws.Below(left)]);
  }
  for (const int kind : order) {
    const double by = factors[static_cast<size_t>(kind)];
    if (by != 1) kChanges[static_cast<size_t>(kind)](by, picture);
  }
  ChangeHls(options, draws, picture);
}

std::optional<PartCorner> DrawPart(int width, int height,
                                   const Picture& picture, Draws& draws) {
  if (width < 1 || height < 1 || width > picture.width ||
      height > picture.height) {
    return std::nullopt;
  }
  const auto any = [&](int room) {
    return static_cast<int>(draws.Below(static_cast<uint64_t>(room) + 1));
  };
  const int left = any(picture.width - width);
  return PartCorner{left, any(picture.height - height)};
}

void Erase(double share, const uint8_t (&color)[3], Draws& draws,
           Picture* picture) {
  if (share == 0 || draws.Unit() >= share) return;
  constexpr double kLeast = 0.02, kMost = 0.33, kNarrowest = 0.3;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(picture->width) * picture->height *
                        draws.Between(kLeast, kMost);
    const double ratio =
        std::exp(draws.Between(std::log(kNarrowest), -std::log(kNarrowest)));
    const auto width = static_cast<int>(std::lrint(std::sqrt(area * ratio)));
    const auto height = static_cast<int>(std::lrint(std::sqrt(area / ratio)));
    const auto corner = DrawPart(width, height, *picture, draws);
    if (!corner) continue;
    const auto channels = static_cast<size_t>(picture->channels);
    for (int y = corner->top; y < corner->top + height; ++y) {
      uint8_t* to = picture->pixels.data() +
                    static_cast<size_t>(y) * picture->row_bytes() +
                    static_cast<size_t>(corner->left) * channels;
      for (int x = 0; x < width; ++x, to += channels) {
        std::copy_n(color, channels, to);
      }
    }
    return;
  }
}

}  // namespace mxc::data
