// SPDX-License-Identifier: Apache-2.0
#include "tests/data/png_file.h"

namespace mxc::data {

std::string PngFile::Bytes() const {
  std::string file;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep data, size_t size) {
        static_cast<std::string*>(png_get_io_ptr(p))
            ->append(reinterpret_cast<char*>(data), size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width),
               static_cast<png_uint_32>(height), depth, type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (gamma > 0) png_set_gAMA(png, info, gamma);
  if (!palette.empty()) {
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (!covers.empty()) {
    png_set_tRNS(png, info, covers.data(), static_cast<int>(covers.size()),
                 nullptr);
  }
  std::string noted = exif;
  if (!noted.empty()) {
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(noted.size()),
                   reinterpret_cast<png_bytep>(noted.data()));
  }
  png_write_info(png, info);
  if (depth < 8) png_set_packing(png);
  const size_t values = samples.size() / static_cast<size_t>(height);
  for (int y = 0; y < height; ++y) {
    std::vector<uint8_t> row;
    for (size_t i = 0; i < values; ++i) {
      const uint16_t value = samples[static_cast<size_t>(y) * values + i];
      if (depth == 16) row.push_back(static_cast<uint8_t>(value >> 8));
      row.push_back(static_cast<uint8_t>(value));
    }
    png_write_row(png, row.data());
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

}  // namespace mxc::data
