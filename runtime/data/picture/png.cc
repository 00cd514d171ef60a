// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <span>

#include "runtime/data/picture/decoders.h"
#include "runtime/data/picture/libraries.h"
#include "runtime/data/picture/orientation.h"

namespace mxc::data {
namespace {

using runtime::Bytes;
using runtime::Status;
using runtime::StatusOr;

// Deflate cannot do better than 1 to 1032, on pixels of one bit.
constexpr uint64_t kMostPngPixelsPerByte = 1032 * 8;

// The numbers of the file as other decoders take them: the upper 8 of 16 bits,
// fewer bits stretched to 8, palettes looked up, and what a file says of gamma
// and colour profiles left out.
//
// libpng leaves its functions by longjmp when something is wrong. What may be
// left so holds no object with a destructor.
class PngDecoder {
 public:
  PngDecoder(const LibPng& library, Bytes bytes)
      : library_(library), left_(bytes) {}
  ~PngDecoder() { library_.png_destroy_read_struct(&png_, &info_, nullptr); }

  bool Begin(bool color) {
    png_ = library_.png_create_read_struct(PNG_LIBPNG_VER_STRING, this, Leave,
                                           [](png_structp, png_const_charp) {});
    if (png_ == nullptr) return false;
    if (setjmp(leave_) != 0) return false;
    info_ = library_.png_create_info_struct(png_);
    library_.png_set_read_fn(png_, this, Read);
    library_.png_read_info(png_, info_);
    const int type = library_.png_get_color_type(png_, info_);
    library_.png_set_expand(png_);
    library_.png_set_strip_16(png_);
    if (color && (type & PNG_COLOR_MASK_COLOR) == 0) {
      library_.png_set_gray_to_rgb(png_);
    }
    passes_ = library_.png_set_interlace_handling(png_);
    library_.png_read_update_info(png_, info_);
    return true;
  }

  bool ReadRows(uint8_t* pixels) {
    if (setjmp(leave_) != 0) return false;
    const size_t row = library_.png_get_rowbytes(png_, info_);
    for (int pass = 0; pass < passes_; ++pass) {
      for (uint32_t y = 0; y < height(); ++y) {
        library_.png_read_row(png_, pixels + row * y, nullptr);
      }
    }
    return true;
  }

  // EXIF data may stand behind the pixels, and a file may end before them.
  int ReadOrientation() {
    if (setjmp(leave_) == 0) library_.png_read_end(png_, info_);
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    if (setjmp(leave_) != 0 ||
        library_.png_get_eXIf_1(png_, info_, &size, &exif) == 0) {
      return 1;
    }
    return OrientationOf(std::as_bytes(std::span(exif, size)));
  }

  uint32_t width() const { return library_.png_get_image_width(png_, info_); }
  uint32_t height() const { return library_.png_get_image_height(png_, info_); }
  int channels() const { return library_.png_get_channels(png_, info_); }
  const char* message() const { return message_; }

 private:
  static PngDecoder* Self(png_structp png) {
    return static_cast<PngDecoder*>((*LibPng::Get())->png_get_error_ptr(png));
  }
  [[noreturn]] static void Leave(png_structp png, png_const_charp message) {
    PngDecoder* self = Self(png);
    snprintf(self->message_, sizeof self->message_, "PNG: %s", message);
    std::longjmp(self->leave_, 1);
  }
  static void Read(png_structp png, png_bytep to, size_t size) {
    PngDecoder* self = Self(png);
    if (size > self->left_.size()) Leave(png, "the file ends early");
    std::memcpy(to, self->left_.data(), size);
    self->left_ = self->left_.subspan(size);
  }

  const LibPng& library_;
  Bytes left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::jmp_buf leave_{};
  char message_[200] = "PNG: there is no memory";
};

// From 1 to 4 channels, of which the last of two and of four says how much
// covers what lies behind: white.
void Blend(int channels, Picture* picture) {
  const auto from = static_cast<size_t>(picture->channels);
  const auto colours = from - (from % 2 == 0 ? 1 : 0);
  std::vector<uint8_t>& pixels = picture->pixels;
  size_t to = 0;
  for (size_t at = 0; at < pixels.size(); at += from) {
    const int cover = from % 2 == 0 ? pixels[at + colours] : 255;
    int colour[3];
    for (size_t c = 0; c < colours; ++c) {
      colour[c] = (pixels[at + c] * cover + 255 * (255 - cover) + 127) / 255;
    }
    if (channels == 1 && colours == 3) {
      pixels[to++] = Grey(colour[0], colour[1], colour[2]);
      continue;
    }
    for (size_t c = 0; c < colours; ++c) {
      pixels[to++] = static_cast<uint8_t>(colour[c]);
    }
  }
  pixels.resize(to);
  picture->channels = channels;
}

}  // namespace

Status DecodePng(Bytes bytes, int channels, Picture* picture,
                 int* orientation) {
  const StatusOr<const LibPng*> library = LibPng::Get();
  if (!library.ok()) return library.status();
  PngDecoder decoder(**library, bytes);
  if (!decoder.Begin(channels == 3)) return RefusePicture(decoder.message());
  MXC_RT_RETURN_IF_ERROR(AllocatePicture(decoder.width(), decoder.height(),
                                         decoder.channels(), bytes.size(),
                                         kMostPngPixelsPerByte, picture));
  if (!decoder.ReadRows(picture->pixels.data())) {
    return RefusePicture(decoder.message());
  }
  *orientation = decoder.ReadOrientation();
  if (picture->channels != channels) Blend(channels, picture);
  return {};
}

}  // namespace mxc::data
