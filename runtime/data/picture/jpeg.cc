// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <span>
#include <string_view>

#include "runtime/data/picture/decoders.h"
#include "runtime/data/picture/libraries.h"
#include "runtime/data/picture/orientation.h"

// jerror.h needs jpeglib.h.
#include <jerror.h>

namespace mxc::data {
namespace {

using runtime::Bytes;
using runtime::Status;
using runtime::StatusOr;

// A bit at least for every block's mean, of which 6 make 256 pixels.
constexpr uint64_t kMostJpegPixelsPerByte = 1024;
constexpr int kMostJpegScans = 200;  // encoders make about 10
constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr unsigned kMostMarkerBytes = 0xffff;
constexpr std::string_view kExif("Exif\0\0", 6);

bool StartsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()),
                          text.size()) == text;
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
    library_.jpeg_save_markers(&decoder_, kExifMarker, kMostMarkerBytes);
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
  int orientation() const {
    const jpeg_saved_marker_ptr first = decoder_.marker_list;
    for (const auto* marker = first; marker != nullptr; marker = marker->next) {
      const Bytes data = std::as_bytes(std::span(
          static_cast<const JOCTET*>(marker->data), marker->data_length));
      if (StartsWith(data, kExif))
        return OrientationOf(data.subspan(kExif.size()));
    }
    return 1;
  }
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

}  // namespace

Status DecodeJpeg(Bytes bytes, int channels, Picture* picture,
                  int* orientation) {
  const StatusOr<const LibJpeg*> library = LibJpeg::Get();
  if (!library.ok()) return library.status();
  JpegDecoder decoder(**library);
  if (!decoder.Begin(bytes, channels)) return RefusePicture(decoder.message());
  MXC_RT_RETURN_IF_ERROR(AllocatePicture(
      decoder.width(), decoder.height(), decoder.cmyk() ? 4 : channels,
      bytes.size(), kMostJpegPixelsPerByte, picture));
  *orientation = decoder.orientation();
  if (!decoder.ReadRows(picture->pixels.data())) {
    return RefusePicture(decoder.message());
  }
  if (decoder.cmyk()) {
    *picture = FromCmyk(*picture, decoder.inverted(), channels);
  }
  return {};
}

}  // namespace mxc::data
