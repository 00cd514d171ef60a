// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/orientation.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mxc::data {
namespace {

using runtime::Bytes;

constexpr uint64_t kOrientationTag = 0x0112;
constexpr uint64_t kShort = 3, kLong = 4;  // types of TIFF's fields
constexpr size_t kFieldBytes = 12;

// TIFF: numbers in the order of bytes that its header names.
class Tiff {
 public:
  explicit Tiff(Bytes bytes) : bytes_(bytes) {}

  bool Begins() {
    if (bytes_.size() < 8) return false;
    little_ = std::memcmp(bytes_.data(), "II*", 4) == 0;
    return little_ || std::memcmp(bytes_.data(), "MM\0*", 4) == 0;
  }
  // Zero behind the end.
  uint64_t Number(uint64_t at, size_t width) const {
    if (at > bytes_.size() || width > bytes_.size() - at) return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i) {
      const size_t k = little_ ? width - 1 - i : i;
      value = value << 8 | static_cast<uint64_t>(bytes_[at + k]);
    }
    return value;
  }

 private:
  Bytes bytes_;
  bool little_ = true;
};

}  // namespace

int OrientationOf(Bytes exif) {
  Tiff tiff(exif);
  if (!tiff.Begins()) return 1;
  const uint64_t directory = tiff.Number(4, 4);
  const uint64_t fields = tiff.Number(directory, 2);
  for (uint64_t i = 0; i < fields; ++i) {
    const uint64_t at = directory + 2 + i * kFieldBytes;
    if (tiff.Number(at, 2) != kOrientationTag) continue;
    const uint64_t type = tiff.Number(at + 2, 2);
    const uint64_t value = type == kShort  ? tiff.Number(at + 8, 2)
                           : type == kLong ? tiff.Number(at + 8, 4)
                                           : 1;
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Picture Turned(Picture in, int orientation) {
  if (orientation == 1) return in;
  const bool lies = orientation >= 5;  // rows become columns
  const bool from_right = orientation == 2 || orientation == 3 ||
                          orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4 ||
                          orientation == 6 || orientation == 7;
  Picture out{in.width, in.height, in.channels, {}};
  if (lies) std::swap(out.width, out.height);
  out.pixels.resize(in.pixels.size());
  const auto channels = static_cast<size_t>(in.channels);
  uint8_t* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x, to += channels) {
      const int u = lies ? y : x, v = lies ? x : y;
      const int column = from_right ? in.width - 1 - u : u;
      const int row = from_below ? in.height - 1 - v : v;
      std::copy_n(in.row(row) + static_cast<size_t>(column) * channels,
                  channels, to);
    }
  }
  return out;
}

}  // namespace mxc::data
