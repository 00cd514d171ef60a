// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/warp.h"

#include <algorithm>
#include <cmath>

#include "runtime/data/picture/values.h"

namespace mxc::data {
namespace {

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

}  // namespace

Place CenterOf(const Picture& picture) {
  return {(picture.width - 1) / 2.0, (picture.height - 1) / 2.0};
}

Matrix Matrix::Inverse() const {
  const double det = xx * yy - xy * yx;
  return {yy / det, -xy / det, -yx / det, xx / det};
}

Picture Mapped(const Picture& in, const Matrix& from, Place fixed,
               uint8_t fill) {
  Picture out{in.width, in.height, in.channels, {}};
  out.pixels.reserve(in.pixels.size());
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      const double dx = x - fixed.x, dy = y - fixed.y;
      const double u = fixed.x + from.xx * dx + from.xy * dy;
      const double v = fixed.y + from.yx * dx + from.yy * dy;
      for (size_t c = 0; c < static_cast<size_t>(in.channels); ++c) {
        out.pixels.push_back(Between(in, u, v, c, fill));
      }
    }
  }
  return out;
}

Picture Shifted(const Picture& in, int right, int down, uint8_t fill) {
  Picture out{in.width, in.height, in.channels, {}};
  out.pixels.assign(in.pixels.size(), fill);
  const int columns = in.width - std::abs(right);
  if (columns <= 0) return out;
  const auto channels = static_cast<size_t>(in.channels);
  const size_t from = static_cast<size_t>(std::max(-right, 0)) * channels;
  const size_t to = static_cast<size_t>(std::max(right, 0)) * channels;
  for (int y = std::max(0, down); y < std::min(in.height, in.height + down);
       ++y) {
    std::copy_n(in.row(y - down) + from,
                static_cast<size_t>(columns) * channels,
                &out.pixels[static_cast<size_t>(y) * out.row_bytes() + to]);
  }
  return out;
}

}  // namespace mxc::data
