// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/picture_size.h"

#include <algorithm>
#include <cstddef>

namespace mxc::serve {
namespace {

// Big-endian.
uint64_t Number(std::string_view text, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t k = 0; k < bytes; ++k) {
    value = value << 8 | static_cast<unsigned char>(text[at + k]);
  }
  return value;
}

// A frame begins with C0 to CF, of which three are something else (ITU-T T.81,
// table B.1).
bool IsFrame(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
         marker != 0xCC;
}

std::optional<uint64_t> PixelsOfJpeg(std::string_view picture) {
  constexpr size_t kMarker = 2, kLength = 2, kFrame = 9;
  for (size_t at = kMarker; at + kFrame <= picture.size();) {
    if (Number(picture, at, 1) != 0xFF) return std::nullopt;
    const auto marker = static_cast<unsigned>(Number(picture, at + 1, 1));
    if (marker == 0xFF) {
      ++at;  // bytes that fill up
    } else if (IsFrame(marker)) {
      return Number(picture, at + 5, 2) * Number(picture, at + 7, 2);
    } else {
      at += kMarker + std::max<uint64_t>(Number(picture, at + 2, 2), kLength);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> StatedPixels(std::string_view picture) {
  constexpr size_t kSizes = 16, kEnd = 24;  // within a PNG
  if (picture.starts_with("\xFF\xD8")) return PixelsOfJpeg(picture);
  if (!picture.starts_with("\x89PNG") || picture.size() < kEnd) {
    return std::nullopt;
  }
  return Number(picture, kSizes, 4) * Number(picture, kSizes + 4, 4);
}

}  // namespace mxc::serve
