// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "runtime/data/picture/picture.h"

namespace mxc::data {
namespace {

constexpr int kOneBits = 11;  // weights are 11-bit fractions, as OpenCV's
constexpr int kOne = 1 << kOneBits;

// Two neighbours and the second one's weight.
struct Tap {
  int first, second, weight;
};

std::vector<Tap> Taps(int from, int to) {
  std::vector<Tap> taps;
  taps.reserve(static_cast<size_t>(to));
  const double scale = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const double place = std::max((i + 0.5) * scale - 0.5, 0.0);
    const int first = std::min(static_cast<int>(place), from - 1);
    const int second = std::min(first + 1, from - 1);
    const double part = first == second ? 0 : place - first;
    taps.push_back({first, second, static_cast<int>(std::lrint(part * kOne))});
  }
  return taps;
}

}  // namespace

Picture ResizeBilinear(const Picture& in, int width, int height) {
  if (in.width == width && in.height == height) return in;
  Picture out{width, height, in.channels, {}};
  out.pixels.resize(out.row_bytes() * static_cast<size_t>(height));
  const std::vector<Tap> columns = Taps(in.width, width);
  const std::vector<Tap> rows = Taps(in.height, height);
  const auto channels = static_cast<size_t>(in.channels);
  uint8_t* to = out.pixels.data();
  for (const Tap& row : rows) {
    const uint8_t* upper = in.row(row.first);
    const uint8_t* lower = in.row(row.second);
    for (const Tap& column : columns) {
      const size_t a = static_cast<size_t>(column.first) * channels;
      const size_t b = static_cast<size_t>(column.second) * channels;
      for (size_t c = 0; c < channels; ++c) {
        const int above = upper[a + c] * (kOne - column.weight) +
                          upper[b + c] * column.weight;
        const int below = lower[a + c] * (kOne - column.weight) +
                          lower[b + c] * column.weight;
        const int64_t sum =
            int64_t{above} * (kOne - row.weight) + int64_t{below} * row.weight;
        *to++ = static_cast<uint8_t>(
            (sum + (int64_t{1} << (2 * kOneBits - 1))) >> (2 * kOneBits));
      }
    }
  }
  return out;
}

}  // namespace mxc::data
