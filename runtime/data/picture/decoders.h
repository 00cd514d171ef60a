// SPDX-License-Identifier: Apache-2.0
// The decoders behind DecodePicture.
#pragma once

#include "runtime/data/picture/picture.h"

namespace mxc::data {

// `orientation` becomes that of the file's EXIF data, if there is one.
runtime::Status DecodeJpeg(runtime::Bytes bytes, int channels, Picture* picture,
                           int* orientation);
runtime::Status DecodePng(runtime::Bytes bytes, int channels, Picture* picture,
                          int* orientation);

// Room for the pixels of a file of `file_bytes`, of which each holds at most
// `per_byte` pixels.
runtime::Status AllocatePicture(uint64_t width, uint64_t height, int channels,
                                uint64_t file_bytes, uint64_t per_byte,
                                Picture* picture);

runtime::Status RefusePicture(std::string message);

// OpenCV's and libjpeg's weights of red, green and blue.
inline uint8_t Grey(int r, int g, int b) {
  return static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 32768) >> 16);
}

}  // namespace mxc::data
