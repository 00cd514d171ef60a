// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "runtime/data/picture/values.h"

namespace mxc::data {
namespace {

// The pixel at a place between four, of which those outside are `fill`.
void WriteBetween(const Picture& in, double x, double y, uint8_t fill,
                  uint8_t* out) {
  const double left = std::floor(x), top = std::floor(y);
  const double right_part = x - left, lower_part = y - top;
  const std::array<uint8_t, 3> outside = {fill, fill, fill};
  const auto at = [&](double column, double row) {
    if (column < 0 || row < 0 || column >= in.width || row >= in.height) {
      return outside.data();
    }
    return in.row(static_cast<int>(row)) +
           static_cast<ptrdiff_t>(column) * in.channels;
  };
  const uint8_t* corners[] = {at(left, top), at(left + 1, top),
                              at(left, top + 1), at(left + 1, top + 1)};
  for (int c = 0; c < in.channels; ++c) {
    const double above =
        corners[0][c] * (1 - right_part) + corners[1][c] * right_part;
    const double below =
        corners[2][c] * (1 - right_part) + corners[3][c] * right_part;
    out[c] = ToByte(above * (1 - lower_part) + below * lower_part);
  }
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
  out.pixels.resize(in.pixels.size());
  uint8_t* to = out.pixels.data();
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x, to += in.channels) {
      const double dx = x - fixed.x, dy = y - fixed.y;
      const double u = fixed.x + from.xx * dx + from.xy * dy;
      const double v = fixed.y + from.yx * dx + from.yy * dy;
      WriteBetween(in, u, v, fill, to);
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
