// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace mxc::data {
namespace {

uint8_t ToByte(double value) {
  return static_cast<uint8_t>(std::lrint(std::clamp(value, 0.0, 255.0)));
}

// The pixel at a place between four, of which those outside are `fill`.
uint8_t Between(const Picture& in, double x, double y, size_t channel,
                uint8_t fill) {
  const double left = std::floor(x), top = std::floor(y);
  const auto at = [&](double column, double row) -> double {
    if (column < 0 || row < 0 || column >= in.width || row >= in.height) {
      return fill;
    }
    return in.row(static_cast<int>(
        row))[static_cast<size_t>(column) * static_cast<size_t>(in.channels) +
              channel];
  };
  const double right_part = x - left, lower_part = y - top;
  const double above =
      at(left, top) * (1 - right_part) + at(left + 1, top) * right_part;
  const double below =
      at(left, top + 1) * (1 - right_part) + at(left + 1, top + 1) * right_part;
  return ToByte(above * (1 - lower_part) + below * lower_part);
}

// From where a pixel comes, about the centre.
struct Matrix {
  double xx = 1, xy = 0, yx = 0, yy = 1;

  Matrix Inverse() const {
    const double det = xx * yy - xy * yx;
    return {yy / det, -xy / det, -yx / det, xx / det};
  }
};

Picture Mapped(const Picture& in, const Matrix& from, uint8_t fill) {
  Picture out{in.width, in.height, in.channels, {}};
  out.pixels.reserve(in.pixels.size());
  const double center_x = (in.width - 1) / 2.0,
               center_y = (in.height - 1) / 2.0;
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      const double dx = x - center_x, dy = y - center_y;
      const double u = center_x + from.xx * dx + from.xy * dy;
      const double v = center_y + from.yx * dx + from.yy * dy;
      for (size_t c = 0; c < static_cast<size_t>(in.channels); ++c) {
        out.pixels.push_back(Between(in, u, v, c, fill));
      }
    }
  }
  return out;
}

double GreyOf(const uint8_t* pixel, int channels) {
  return channels == 1 ? pixel[0]
                       : 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

double MeanGrey(const Picture& picture) {
  double sum = 0;
  const auto step = static_cast<size_t>(picture.channels);
  for (size_t i = 0; i < picture.pixels.size(); i += step) {
    sum += GreyOf(&picture.pixels[i], picture.channels);
  }
  return sum * static_cast<double>(step) /
         static_cast<double>(picture.pixels.size());
}

// Every value away from a grey: the pixel's own, or one for all.
template <class GreyAt>
void Spread(double factor, const GreyAt& grey_at, Picture* picture) {
  const auto step = static_cast<size_t>(picture->channels);
  for (size_t i = 0; i < picture->pixels.size(); i += step) {
    const double grey = grey_at(&picture->pixels[i]);
    for (size_t c = 0; c < step; ++c) {
      uint8_t& value = picture->pixels[i + c];
      value = ToByte(grey + factor * (value - grey));
    }
  }
}

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
  *picture = Mapped(*picture, to.Inverse(), fill);
}

void ChangeColors(const LookOptions& options, Draws& draws, Picture* picture) {
  if (!options.changes_colors()) return;
  const auto factor = [&](double most) {
    return most > 0 ? 1 + draws.Between(-most, most) : 1;
  };
  const std::array<double, 3> factors = {factor(options.brightness),
                                         factor(options.contrast),
                                         factor(options.saturation)};
  std::array<int, 3> order = {0, 1, 2};
  for (size_t left = 3; left > 1; --left) {
    std::swap(order[left - 1], order[draws.Below(left)]);
  }
  for (const int kind : order) {
    const double by = factors[static_cast<size_t>(kind)];
    if (by == 1 || (kind == 2 && picture->channels == 1)) continue;
    const double mean = kind == 1 ? MeanGrey(*picture) : 0;
    if (kind == 2) {
      const auto own = [](const uint8_t* pixel) { return GreyOf(pixel, 3); };
      Spread(by, own, picture);
    } else {
      Spread(by, [mean](const uint8_t*) { return mean; }, picture);
    }
  }
  ChangeHls(options, draws, picture);
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
    if (width < 1 || height < 1 || width > picture->width ||
        height > picture->height) {
      continue;
    }
    const auto any = [&](int room) {
      return static_cast<int>(draws.Below(static_cast<uint64_t>(room) + 1));
    };
    const int left = any(picture->width - width);
    const int top = any(picture->height - height);
    const auto channels = static_cast<size_t>(picture->channels);
    for (int y = top; y < top + height; ++y) {
      uint8_t* to = picture->pixels.data() +
                    static_cast<size_t>(y) * picture->row_bytes() +
                    static_cast<size_t>(left) * channels;
      for (int x = 0; x < width; ++x, to += channels) {
        std::copy_n(color, channels, to);
      }
    }
    return;
  }
}

}  // namespace mxc::data
