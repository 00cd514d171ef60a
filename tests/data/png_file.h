// SPDX-License-Identifier: Apache-2.0
// PNG files of every kind that libpng writes.
#pragma once

#include <png.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mxc::data {

struct PngFile {
  int width = 1, height = 1, type = PNG_COLOR_TYPE_RGB, depth = 8;
  double gamma = 0;  // 0: nothing is said
  std::vector<uint16_t> samples{};
  std::vector<png_color> palette{};
  std::vector<uint8_t> covers{};  // of the palette's colours: their alpha
  std::string exif{};

  std::string Bytes() const;
  std::vector<uint8_t> Pixels8() const {
    return {samples.begin(), samples.end()};
  }
};

}  // namespace mxc::data
