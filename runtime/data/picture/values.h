// SPDX-License-Identifier: Apache-2.0
// The values of pixels, whatever their place.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/data/picture/picture.h"

namespace mxc::data {

inline uint8_t ToByte(double value) {
  return static_cast<uint8_t>(std::lrint(std::clamp(value, 0.0, 255.0)));
}

// Of one pixel.
inline double GreyOf(const uint8_t* pixel, int channels) {
  return channels == 1 ? pixel[0]
                       : 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

inline double MeanGrey(const Picture& picture) {
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

// Brightness, contrast and saturation: the less, the nearer to black, to the
// mean grey, to the grey of each pixel.
inline void Brighten(double factor, Picture* picture) {
  Spread(factor, [](const uint8_t*) { return 0.0; }, picture);
}
inline void Contrast(double factor, Picture* picture) {
  const double mean = MeanGrey(*picture);
  Spread(factor, [mean](const uint8_t*) { return mean; }, picture);
}
inline void Saturate(double factor, Picture* picture) {
  if (picture->channels == 1) return;
  Spread(
      factor, [](const uint8_t* pixel) { return GreyOf(pixel, 3); }, picture);
}

}  // namespace mxc::data
