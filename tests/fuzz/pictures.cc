// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/pictures.h"

#include <png.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/bytes.h"

// jpeglib.h needs FILE.
#include <jpeglib.h>

namespace mxc::fuzz {
namespace {

constexpr int kSide = 9;

std::vector<uint8_t> Pixels(int channels) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < kSide * kSide * channels; ++i) {
    pixels.push_back(static_cast<uint8_t>(i * 7));
  }
  return pixels;
}

std::string PngOf(png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = kSide;
  image.format = format;
  const std::vector<uint8_t> pixels = Pixels(4);
  std::vector<uint8_t> colours = Pixels(4);
  image.colormap_entries = 16;
  png_alloc_size_t size = 1 << 16;
  std::string file(size, '\0');
  const bool mapped = (format & PNG_FORMAT_FLAG_COLORMAP) != 0;
  std::vector<uint8_t> indices(pixels.size());
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = i % 16;
  png_image_write_to_memory(&image, file.data(), &size, 0,
                            mapped ? indices.data() : pixels.data(), 0,
                            mapped ? colours.data() : nullptr);
  file.resize(size);
  return file;
}

struct JpegForm {
  int channels;
  J_COLOR_SPACE colours;
  bool progressive, arithmetic;
};

std::string JpegOf(const JpegForm& form) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = jpeg.image_height = kSide;
  jpeg.input_components = form.channels;
  jpeg.in_color_space = form.colours;
  jpeg_set_defaults(&jpeg);
  if (form.progressive) jpeg_simple_progression(&jpeg);
  jpeg.arith_code = form.arithmetic ? TRUE : FALSE;
  jpeg.restart_interval = form.channels == 1 ? 1 : 0;
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> pixels = Pixels(form.channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = pixels.data() + static_cast<size_t>(jpeg.next_scanline) *
                                       kSide *
                                       static_cast<size_t>(form.channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

}  // namespace

std::vector<std::string> Pictures() {
  return {PngOf(PNG_FORMAT_GRAY),
          PngOf(PNG_FORMAT_GA),
          PngOf(PNG_FORMAT_RGB),
          PngOf(PNG_FORMAT_RGBA),
          PngOf(PNG_FORMAT_RGB_COLORMAP),
          JpegOf({1, JCS_GRAYSCALE, false, false}),
          JpegOf({3, JCS_RGB, false, false}),
          JpegOf({3, JCS_RGB, true, false}),
          JpegOf({4, JCS_CMYK, false, false})};
}

void SealPng(std::span<std::byte> file) {
  constexpr size_t kMagic = 8, kLengthAndName = 8, kCrc = 4;
  for (size_t at = kMagic; at + kLengthAndName + kCrc <= file.size();) {
    const size_t length = __builtin_bswap32(Load<uint32_t>(file, at));
    const size_t room = file.size() - at - kLengthAndName - kCrc;
    if (length > room) return;
    const auto* name = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    const uLong crc = crc32_z(0, name, length + 4);
    at += kLengthAndName + length;
    Store(file, at, __builtin_bswap32(static_cast<uint32_t>(crc)));
    at += kCrc;
  }
}

}  // namespace mxc::fuzz
