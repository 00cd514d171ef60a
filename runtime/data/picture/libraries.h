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
  F(jpeg_start_decompress)       \
  F(jpeg_std_error)

#define MXC_LIBPNG_FUNCTIONS(F)       \
  F(png_image_begin_read_from_memory) \
  F(png_image_finish_read)            \
  F(png_image_free)

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
