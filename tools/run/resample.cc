// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "tools/run/picture.h"

namespace mxc::run {
namespace {

// The source samples that one result sample is made of.
struct Window {
  int begin = 0;
  std::vector<float> weights;
};

std::vector<Window> Windows(int source, int result) {
  const double scale = static_cast<double>(source) / result;
  const double radius = std::max(scale, 1.0);
  std::vector<Window> windows(static_cast<size_t>(result));
  for (int i = 0; i < result; ++i) {
    const double center = (i + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(center - radius + 0.5));
    const int end = std::min(source, static_cast<int>(center + radius + 0.5));
    Window& window = windows[static_cast<size_t>(i)];
    window.begin = begin;
    double sum = 0;
    for (int k = begin; k < end; ++k) {
      const double weight =
          std::max(0.0, 1 - std::abs((k + 0.5 - center) / radius));
      window.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : window.weights) weight /= static_cast<float>(sum);
  }
  return windows;
}

// Resamples the columns of rows of `width` pixels.
Pixels ResizeColumns(const Pixels& in, int width) {
  Pixels out{width, in.height, in.channels, {}};
  const auto channels = static_cast<size_t>(in.channels);
  out.values.reserve(static_cast<size_t>(width) *
                     static_cast<size_t>(in.height) * channels);
  const std::vector<Window> windows = Windows(in.width, width);
  for (int y = 0; y < in.height; ++y) {
    const float* row = &in.values[static_cast<size_t>(y) *
                                  static_cast<size_t>(in.width) * channels];
    for (const Window& window : windows) {
      for (size_t c = 0; c < channels; ++c) {
        const float* from =
            row + static_cast<size_t>(window.begin) * channels + c;
        float sum = 0;
        for (const float weight : window.weights) {
          sum += weight * *from;
          from += channels;
        }
        out.values.push_back(sum);
      }
    }
  }
  return out;
}

Pixels Transpose(const Pixels& in) {
  Pixels out{in.height, in.width, in.channels, {}};
  out.values.resize(in.values.size());
  const auto channels = static_cast<size_t>(in.channels);
  const auto width = static_cast<size_t>(in.width);
  const auto height = static_cast<size_t>(in.height);
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      std::copy_n(&in.values[(y * width + x) * channels], channels,
                  &out.values[(x * height + y) * channels]);
    }
  }
  return out;
}

}  // namespace

Pixels ToPixels(const Picture& picture) {
  return {picture.width, picture.height, picture.channels,
          std::vector<float>(picture.pixels.begin(), picture.pixels.end())};
}

Pixels Resize(const Pixels& pixels, int width, int height) {
  if (pixels.width == width && pixels.height == height) return pixels;
  const Pixels columns = ResizeColumns(pixels, width);
  return Transpose(ResizeColumns(Transpose(columns), height));
}

Pixels CropCenter(const Pixels& pixels, int width, int height) {
  Pixels out{width, height, pixels.channels, {}};
  const auto channels = static_cast<size_t>(pixels.channels);
  const auto row = static_cast<size_t>(pixels.width) * channels;
  const auto left = static_cast<size_t>((pixels.width - width) / 2) * channels;
  const auto top = static_cast<size_t>((pixels.height - height) / 2);
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    const auto begin =
        pixels.values.begin() + static_cast<ptrdiff_t>((top + y) * row + left);
    out.values.insert(
        out.values.end(), begin,
        begin + static_cast<ptrdiff_t>(static_cast<size_t>(width) * channels));
  }
  return out;
}

}  // namespace mxc::run
