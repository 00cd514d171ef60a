// SPDX-License-Identifier: Apache-2.0
// Decoding: depths and kinds of PNG, EXIF's orientations.
#include <array>
#include <cstring>

#include "runtime/data/picture/picture.h"
#include "tests/data/batches.h"
#include "tests/data/png_file.h"

namespace mxc::data {
namespace {

using Pixels = std::vector<uint8_t>;

Pixels Decoded(const std::string& file, int channels,
               Orientation turned = Orientation::kExif) {
  Picture picture;
  const Status status =
      DecodePicture(std::as_bytes(std::span(file)), channels, &picture, turned);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(picture.channels == channels);
  return picture.pixels;
}

TEST_CASE("png: the upper 8 of 16 bits, whatever is said of gamma") {
  for (const double gamma : {0.0, 1.0, 0.45455}) {
    PngFile grey{.width = 3, .type = PNG_COLOR_TYPE_GRAY, .depth = 16};
    grey.gamma = gamma;
    grey.samples = {100 * 257, 0x12ff, 0xffff};
    CHECK(Decoded(grey.Bytes(), 1) == Pixels{100, 0x12, 255});
    CHECK(Decoded(grey.Bytes(), 3) ==
          Pixels{100, 100, 100, 0x12, 0x12, 0x12, 255, 255, 255});
    PngFile color{.width = 1, .type = PNG_COLOR_TYPE_RGB, .depth = 16};
    color.gamma = gamma;
    color.samples = {100 * 257, 150 * 257, 200 * 257};
    CHECK(Decoded(color.Bytes(), 3) == Pixels{100, 150, 200});
    PngFile bytes{.width = 1, .type = PNG_COLOR_TYPE_RGB, .depth = 8};
    bytes.gamma = gamma;
    bytes.samples = {100, 150, 200};
    CHECK(Decoded(bytes.Bytes(), 3) == Pixels{100, 150, 200});
    // 0.299, 0.587 and 0.114 of them.
    CHECK(Decoded(bytes.Bytes(), 1) == Pixels{141});
  }
}

TEST_CASE("png: fewer bits reach from 0 to 255, palettes are looked up") {
  PngFile two{.width = 4, .type = PNG_COLOR_TYPE_GRAY, .depth = 2};
  two.samples = {0, 1, 2, 3};
  CHECK(Decoded(two.Bytes(), 1) == Pixels{0, 85, 170, 255});
  PngFile one{.width = 2, .type = PNG_COLOR_TYPE_GRAY, .depth = 1};
  one.samples = {1, 0};
  CHECK(Decoded(one.Bytes(), 1) == Pixels{255, 0});
  PngFile four{.width = 2, .type = PNG_COLOR_TYPE_GRAY, .depth = 4};
  four.samples = {3, 15};
  CHECK(Decoded(four.Bytes(), 1) == Pixels{51, 255});
  PngFile palette{.width = 2, .type = PNG_COLOR_TYPE_PALETTE, .depth = 4};
  palette.samples = {1, 0};
  palette.palette = {{10, 20, 30}, {40, 50, 60}};
  CHECK(Decoded(palette.Bytes(), 3) == Pixels{40, 50, 60, 10, 20, 30});
  palette.covers = {255, 0};
  CHECK(Decoded(palette.Bytes(), 3) == Pixels{255, 255, 255, 10, 20, 30});
}

TEST_CASE("png: what is transparent lies on white") {
  for (const int depth : {8, 16}) {
    const uint16_t unit = depth == 8 ? 1 : 257;
    const auto of = [&](int value) {
      return static_cast<uint16_t>(value * unit);
    };
    PngFile grey{.width = 3, .type = PNG_COLOR_TYPE_GRAY_ALPHA, .depth = depth};
    grey.samples = {of(100), of(255), of(100), of(0), of(100), of(51)};
    CHECK(Decoded(grey.Bytes(), 1) == Pixels{100, 255, 224});
    PngFile color{.width = 2, .type = PNG_COLOR_TYPE_RGB_ALPHA, .depth = depth};
    color.samples = {of(10), of(20), of(30), of(255),
                     of(10), of(20), of(30), of(0)};
    CHECK(Decoded(color.Bytes(), 3) == Pixels{10, 20, 30, 255, 255, 255});
  }
}

std::string Exif(int orientation, bool little) {
  std::string data = little ? std::string("II*\0\x08\0\0\0\x01\0", 10)
                            : std::string("MM\0*\0\0\0\x08\0\x01", 10);
  const auto value = static_cast<char>(orientation);
  data += little ? std::string("\x12\x01\x03\0\x01\0\0\0", 8) + value +
                       std::string(7, '\0')
                 : std::string("\x01\x12\0\x03\0\0\0\x01\0", 9) + value +
                       std::string(6, '\0');
  return data;
}

// Where the spec says that row 0 and column 0 of the file are to be seen.
struct Sides {
  char row, column;
};
constexpr std::array<Sides, 8> kSides = {{{'t', 'l'},
                                          {'t', 'r'},
                                          {'b', 'r'},
                                          {'b', 'l'},
                                          {'l', 't'},
                                          {'r', 't'},
                                          {'r', 'b'},
                                          {'l', 'b'}}};

// The pixels 0 … of rows of `width`, seen with these sides.
Pixels SeenWith(Sides sides, int width, int height) {
  const bool lies = sides.row == 'l' || sides.row == 'r';
  const int across = lies ? height : width, down = lies ? width : height;
  Pixels pixels(static_cast<size_t>(width * height));
  for (int r = 0; r < height; ++r) {
    for (int c = 0; c < width; ++c) {
      int x = 0, y = 0;
      for (const auto& [side, i] :
           {std::pair(sides.row, r), {sides.column, c}}) {
        if (side == 'l') x = i;
        if (side == 'r') x = across - 1 - i;
        if (side == 't') y = i;
        if (side == 'b') y = down - 1 - i;
      }
      pixels[static_cast<size_t>(y * across + x)] =
          static_cast<uint8_t>(r * width + c);
    }
  }
  return pixels;
}

TEST_CASE("exif: each orientation is turned upright, or left alone") {
  for (int orientation = 0; orientation <= 9; ++orientation) {
    PngFile file{.width = 3, .height = 2, .type = PNG_COLOR_TYPE_GRAY};
    file.samples = {0, 1, 2, 3, 4, 5};
    for (const bool little : {true, false}) {
      file.exif = Exif(orientation, little);
      const int known = orientation >= 1 && orientation <= 8 ? orientation : 1;
      CHECK(Decoded(file.Bytes(), 1) ==
            SeenWith(kSides[static_cast<size_t>(known) - 1], 3, 2));
      CHECK(Decoded(file.Bytes(), 1, Orientation::kStored) == file.Pixels8());
      // Damage turns nothing.
      file.exif.resize(12);
      CHECK(Decoded(file.Bytes(), 1) == file.Pixels8());
    }
  }
}

}  // namespace
}  // namespace mxc::data
