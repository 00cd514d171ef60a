// SPDX-License-Identifier: Apache-2.0
// The functions of libjpeg and libpng that are called here, found when the first
// such picture is read: programs start on machines that have neither library.
#pragma once

#include <png.h>

#include <cstdio>

#include "runtime/base/status.h"

// jpeglib.h needs FILE.
#include <jpeglib.h>

namespace mxc::data {

#define MXC_LIBJPEG_FUNCTIONS(F) \
  F(jpeg_CreateDecompress)       \
  F(jpeg_calc_output_dimensions) \
  F(jpeg_destroy_decompress)     \
  F(jpeg_mem_src)                \
  F(jpeg_read_header)            \
  F(jpeg_read_scanlines)         \
  F(jpeg_save_markers)           \
  F(jpeg_start_decompress)       \
  F(jpeg_std_error)

#define MXC_LIBPNG_FUNCTIONS(F) \
  F(png_create_info_struct)     \
  F(png_create_read_struct)     \
  F(png_destroy_read_struct)    \
  F(png_get_channels)           \
  F(png_get_color_type)         \
  F(png_get_eXIf_1)             \
  F(png_get_error_ptr)          \
  F(png_get_image_height)       \
  F(png_get_image_width)        \
  F(png_get_rowbytes)           \
  F(png_read_end)               \
  F(png_read_info)              \
  F(png_read_row)               \
  F(png_read_update_info)       \
  F(png_set_expand)             \
  F(png_set_gray_to_rgb)        \
  F(png_set_interlace_handling) \
  F(png_set_read_fn)            \
  F(png_set_strip_16)

#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
struct LibJpeg {
  MXC_LIBJPEG_FUNCTIONS(MXC_DECLARE)

  // The library, loaded once for the process and never unloaded.
  static runtime::StatusOr<const LibJpeg*> Get();
};

struct LibPng {
  MXC_LIBPNG_FUNCTIONS(MXC_DECLARE)

  static runtime::StatusOr<const LibPng*> Get();
};
#undef MXC_DECLARE

}  // namespace mxc::data
