// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "runtime/data/picture/decoders.h"
#include "runtime/data/picture/orientation.h"

namespace mxc::data {
namespace {

using runtime::Bytes;
using runtime::Status;
using runtime::StatusCode;

constexpr uint64_t kMostPixels = uint64_t{1} << 28;
constexpr uint64_t kPixelsOfAnyFile = 1 << 20;

bool StartsWith(Bytes bytes, const char* magic, size_t size) {
  return bytes.size() >= size && std::memcmp(bytes.data(), magic, size) == 0;
}
bool IsJpeg(Bytes bytes) { return StartsWith(bytes, "\xff\xd8\xff", 3); }
bool IsPng(Bytes bytes) { return StartsWith(bytes, "\x89PNG\r\n\x1a\n", 8); }

}  // namespace

Status RefusePicture(std::string message) {
  return {StatusCode::kCorrupt, std::move(message)};
}

Status AllocatePicture(uint64_t width, uint64_t height, int channels,
                       uint64_t file_bytes, uint64_t per_byte,
                       Picture* picture) {
  const uint64_t most = kPixelsOfAnyFile + per_byte * file_bytes;
  const bool has_size = width > 0 && height > 0 && width <= kMostPixels;
  if (!has_size || height > kMostPixels / width || width * height > most) {
    return RefusePicture("a picture of " + std::to_string(width) + "x" +
                         std::to_string(height) +
                         " pixels is too large for its file");
  }
  picture->width = static_cast<int>(width);
  picture->height = static_cast<int>(height);
  picture->channels = channels;
  picture->pixels.resize(width * height * static_cast<uint64_t>(channels));
  return {};
}

bool IsPicture(Bytes bytes) { return IsJpeg(bytes) || IsPng(bytes); }

Status DecodePicture(Bytes bytes, int channels, Picture* picture,
                     Orientation turned) {
  int orientation = 1;
  if (IsJpeg(bytes)) {
    MXC_RT_RETURN_IF_ERROR(DecodeJpeg(bytes, channels, picture, &orientation));
  } else if (IsPng(bytes)) {
    MXC_RT_RETURN_IF_ERROR(DecodePng(bytes, channels, picture, &orientation));
  } else {
    return RefusePicture("neither JPEG nor PNG");
  }
  if (turned == Orientation::kExif) {
    *picture = Turned(std::move(*picture), orientation);
  }
  return {};
}

}  // namespace mxc::data
