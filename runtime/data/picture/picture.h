// SPDX-License-Identifier: Apache-2.0
// Pictures of 8 bits: decoded and resized.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::data {

// Interleaved, 8 bits.
struct Picture {
  int width = 0, height = 0, channels = 0;  // channels: 1 or 3 (red first)
  std::vector<uint8_t> pixels;

  size_t row_bytes() const {
    return static_cast<size_t>(width) * static_cast<size_t>(channels);
  }
  const uint8_t* row(int y) const {
    return pixels.data() + static_cast<size_t>(y) * row_bytes();
  }
};

// JPEG or PNG by their first bytes.
bool IsPicture(runtime::Bytes bytes);

// Whether pictures are turned upright as their EXIF data say, or stay as they
// are stored.
enum class Orientation { kExif, kStored };

// Decodes JPEG (grey, YCbCr, CMYK) and PNG of any depth; what is transparent
// lies on white. Refuses files that end early or hold damaged data, and sizes
// that the file cannot possibly hold. Several threads may decode at once.
runtime::Status DecodePicture(runtime::Bytes bytes, int channels,
                              Picture* picture,
                              Orientation turned = Orientation::kExif);

// Bilinear between the four nearest pixels, as OpenCV's INTER_LINEAR: what is
// reduced is not smoothed first. Width and height are positive.
Picture ResizeBilinear(const Picture& picture, int width, int height);

}  // namespace mxc::data
