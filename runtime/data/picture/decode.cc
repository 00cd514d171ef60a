// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstring>

#include "runtime/data/picture/libraries.h"
#include "runtime/data/picture/picture.h"

// jerror.h needs jpeglib.h.
#include <jerror.h>

namespace mxc::data {
namespace {

using runtime::Bytes;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr uint64_t kMostPixels = uint64_t{1} << 28;
// Deflate cannot do better than 1 to 1032, on PNG's pixels of one bit. JPEG
// spends a bit on every block's mean, of which 6 make 256 pixels.
constexpr uint64_t kMostPngPixelsPerByte = 1032 * 8;
constexpr uint64_t kMostJpegPixelsPerByte = 1024;
constexpr int kMostJpegScans = 200;  // encoders make about 10
constexpr uint64_t kPixelsOfAnyFile = 1 << 20;

bool StartsWith(Bytes bytes, const char* magic, size_t size) {
  return bytes.size() >= size && std::memcmp(bytes.data(), magic, size) == 0;
}
bool IsJpeg(Bytes bytes) { return StartsWith(bytes, "\xff\xd8\xff", 3); }
bool IsPng(Bytes bytes) { return StartsWith(bytes, "\x89PNG\r\n\x1a\n", 8); }

Status Refuse(std::string message) {
  return {StatusCode::kCorrupt, std::move(message)};
}

uint64_t MostPixels(Bytes bytes, uint64_t per_byte) {
  return kPixelsOfAnyFile + per_byte * bytes.size();
}

// `most`: pixels that the file can hold.
Status Allocate(uint64_t width, uint64_t height, int channels, uint64_t most,
                Picture* picture) {
  const bool has_size = width > 0 && height > 0 && width <= kMostPixels;
  if (!has_size || height > kMostPixels / width || width * height > most) {
    return Refuse("a picture of " + std::to_string(width) + "x" +
                  std::to_string(height) + " pixels is too large for its file");
  }
  picture->width = static_cast<int>(width);
  picture->height = static_cast<int>(height);
  picture->channels = channels;
  picture->pixels.resize(width * height * static_cast<uint64_t>(channels));
  return {};
}

// libjpeg leaves its functions by longjmp when something is wrong. What may be
// left so holds no object with a destructor.
class JpegDecoder {
 public:
  explicit JpegDecoder(const LibJpeg& library) : library_(library) {
    decoder_.err = library_.jpeg_std_error(&error_);
    error_.error_exit = [](j_common_ptr decoder) { Leave(decoder); };
    error_.emit_message = [](j_common_ptr decoder, int level) {
      // Others are harmless: bytes between markers, unknown versions.
      const int code = decoder->err->msg_code;
      const bool damage = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER ||
                          code == JWRN_HUFF_BAD_CODE ||
                          code == JWRN_MUST_RESYNC;
      if (level < 0 && damage) Leave(decoder);
    };
    progress_.progress_monitor = [](j_common_ptr decoder) {
      const auto* scans = reinterpret_cast<j_decompress_ptr>(decoder);
      if (scans->input_scan_number > kMostJpegScans) {
        ERREXIT(decoder, JERR_BAD_PROGRESSION);
      }
    };
    decoder_.client_data = this;
  }
  ~JpegDecoder() { library_.jpeg_destroy_decompress(&decoder_); }

  bool Begin(Bytes bytes, int channels) {
    if (setjmp(leave_) != 0) return false;
    library_.jpeg_CreateDecompress(&decoder_, JPEG_LIB_VERSION,
                                   sizeof decoder_);
    decoder_.client_data = this;  // cleared by the line above
    decoder_.progress = &progress_;
    library_.jpeg_mem_src(&decoder_,
                          reinterpret_cast<const unsigned char*>(bytes.data()),
                          bytes.size());
    library_.jpeg_read_header(&decoder_, TRUE);
    decoder_.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    if (decoder_.jpeg_color_space == JCS_CMYK ||
        decoder_.jpeg_color_space == JCS_YCCK) {
      decoder_.out_color_space = JCS_CMYK;
    }
    library_.jpeg_calc_output_dimensions(&decoder_);
    return true;
  }

  bool ReadRows(uint8_t* pixels) {
    if (setjmp(leave_) != 0) return false;
    library_.jpeg_start_decompress(&decoder_);
    const size_t row = size_t{decoder_.output_width} *
                       static_cast<size_t>(decoder_.output_components);
    while (decoder_.output_scanline < decoder_.output_height) {
      JSAMPROW target = pixels + row * decoder_.output_scanline;
      library_.jpeg_read_scanlines(&decoder_, &target, 1);
    }
    return true;
  }

  uint64_t width() const { return decoder_.output_width; }
  uint64_t height() const { return decoder_.output_height; }
  bool cmyk() const { return decoder_.out_color_space == JCS_CMYK; }
  // Adobe writes CMYK as what is left of the light.
  bool inverted() const { return decoder_.saw_Adobe_marker != 0; }
  const char* message() const { return message_; }

 private:
  [[noreturn]] static void Leave(j_common_ptr decoder) {
    auto* self = static_cast<JpegDecoder*>(decoder->client_data);
    decoder->err->format_message(decoder, self->message_);
    std::longjmp(self->leave_, 1);
  }

  const LibJpeg& library_;
  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr error_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf leave_{};
  char message_[JMSG_LENGTH_MAX] = "";
};

// OpenCV's and libjpeg's weights of red, green and blue.
uint8_t Grey(int r, int g, int b) {
  return static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 32768) >> 16);
}

Picture FromCmyk(const Picture& in, bool inverted, int channels) {
  Picture out{in.width, in.height, channels, {}};
  out.pixels.reserve(in.pixels.size() / 4 * static_cast<size_t>(channels));
  for (size_t i = 0; i < in.pixels.size(); i += 4) {
    int ink[4];
    for (size_t k = 0; k < 4; ++k) {
      ink[k] = inverted ? in.pixels[i + k] : 255 - in.pixels[i + k];
    }
    for (size_t k = 0; k < 3; ++k) ink[k] = (ink[k] * ink[3] + 127) / 255;
    if (channels == 1) {
      out.pixels.push_back(Grey(ink[0], ink[1], ink[2]));
    } else {
      for (size_t k = 0; k < 3; ++k) {
        out.pixels.push_back(static_cast<uint8_t>(ink[k]));
      }
    }
  }
  return out;
}

Status DecodeJpeg(Bytes bytes, int channels, Picture* picture) {
  const StatusOr<const LibJpeg*> library = LibJpeg::Get();
  if (!library.ok()) return library.status();
  JpegDecoder decoder(**library);
  if (!decoder.Begin(bytes, channels)) return Refuse(decoder.message());
  MXC_RT_RETURN_IF_ERROR(
      Allocate(decoder.width(), decoder.height(), decoder.cmyk() ? 4 : channels,
               MostPixels(bytes, kMostJpegPixelsPerByte), picture));
  if (!decoder.ReadRows(picture->pixels.data())) {
    return Refuse(decoder.message());
  }
  if (decoder.cmyk()) {
    *picture = FromCmyk(*picture, decoder.inverted(), channels);
  }
  return {};
}

Status DecodePng(Bytes bytes, int channels, Picture* picture) {
  const StatusOr<const LibPng*> library = LibPng::Get();
  if (!library.ok()) return library.status();
  const LibPng& png = **library;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png.png_image_begin_read_from_memory(&image, bytes.data(),
                                            bytes.size())) {
    return Refuse(image.message);
  }
  // libpng makes grey by gamma; the weights of other decoders need colour.
  const bool grey_of_color =
      channels == 1 && (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  const int decoded = grey_of_color ? 3 : channels;
  image.format = decoded == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const Status status =
      Allocate(image.width, image.height, decoded,
               MostPixels(bytes, kMostPngPixelsPerByte), picture);
  if (!status.ok()) {
    png.png_image_free(&image);
    return status;
  }
  const png_color white = {255, 255, 255};  // behind what is transparent
  if (!png.png_image_finish_read(&image, &white, picture->pixels.data(), 0,
                                 nullptr)) {
    return Refuse(image.message);
  }
  if (!grey_of_color) return {};
  std::vector<uint8_t>& pixels = picture->pixels;
  for (size_t i = 0; i < pixels.size() / 3; ++i) {
    pixels[i] = Grey(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]);
  }
  pixels.resize(pixels.size() / 3);
  picture->channels = 1;
  return {};
}

}  // namespace

bool IsPicture(Bytes bytes) { return IsJpeg(bytes) || IsPng(bytes); }

Status DecodePicture(Bytes bytes, int channels, Picture* picture) {
  if (IsJpeg(bytes)) return DecodeJpeg(bytes, channels, picture);
  if (IsPng(bytes)) return DecodePng(bytes, channels, picture);
  return Refuse("neither JPEG nor PNG");
}

}  // namespace mxc::data
