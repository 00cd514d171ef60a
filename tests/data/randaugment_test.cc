// SPDX-License-Identifier: Apache-2.0
// RandAugment: what each operation does to a picture, and what is drawn.
#include "runtime/data/picture/randaugment.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/data/picture/operations/operation.h"
#include "tests/data/batches.h"

namespace mxc::data {
namespace {

using Apply = void (*)(double, uint8_t, Picture*);
using Pixels = std::vector<uint8_t>;

Picture After(Apply apply, double strength, Picture picture) {
  apply(strength, 99, &picture);
  return picture;
}

bool AreNear(const Pixels& a, const Pixels& b, int most) {
  return std::ranges::equal(
      a, b, [&](int x, int y) { return std::abs(x - y) <= most; });
}

// 4x3, three channels.
Picture Coloured() {
  Picture picture{4, 3, 3, {}};
  for (int i = 0; i < 36; ++i) {
    picture.pixels.push_back(static_cast<uint8_t>(40 + i * 37 % 170));
  }
  return picture;
}

// What Pillow 13 makes of the picture with torchvision's magnitudes: ImageEnhance
// and ImageOps. It cuts fractions, which are rounded here.
TEST_CASE("randaugment: values are those of Pillow") {
  struct Case {
    const char* name;
    Apply apply;
    double strength;
    Pixels expected;
    int most;  // by which values may differ
  };
  const std::vector<Case> cases = {
      {"Brightness",
       ApplyBrightness,
       0.5,
       {58,  111, 165, 218, 255, 79,  133, 187, 240, 255, 101, 155,
        208, 255, 69,  123, 176, 230, 255, 91,  145, 198, 252, 59,
        113, 166, 220, 255, 81,  134, 188, 242, 255, 102, 156, 210},
       1},
      {"Color",
       ApplyColor,
       -1,
       {67,  70,  74,  160, 164, 151, 119, 122, 126, 122, 109, 113,
        153, 157, 144, 112, 115, 119, 115, 102, 106, 146, 150, 137,
        105, 108, 112, 108, 95,  99,  157, 160, 164, 98,  101, 105},
       1},
      {"Contrast",
       ApplyContrast,
       1,
       {0,   36,  106, 177, 247, 0,   65,  135, 205, 255, 23,  93,
        163, 234, 0,   51,  122, 192, 255, 9,   80,  150, 220, 0,
        38,  108, 179, 249, 0,   66,  137, 207, 255, 25,  95,  165},
       1},
      {"Sharpness",
       ApplySharpness,
       1,
       {40,  77,  114, 151, 188, 55,  92,  129, 166, 203, 70,  107,
        144, 181, 48,  61,  122, 182, 231, 27,  88,  137, 174, 41,
        78,  115, 152, 189, 56,  93,  130, 167, 204, 71,  108, 145},
       1},
      {"Sharpness",
       ApplySharpness,
       -1,
       {40,  77,  114, 151, 188, 55,  92,  129, 166, 203, 70,  107,
        144, 181, 48,  108, 122, 135, 160, 98,  111, 137, 174, 41,
        78,  115, 152, 189, 56,  93,  130, 167, 204, 71,  108, 145},
       1},
      {"AutoContrast",
       ApplyAutoContrast,
       1,
       {0,   40,  114, 173, 255, 21,  81,  141, 195, 255, 27,  103,
        162, 241, 10,  70,  127, 184, 244, 13,  92,  151, 227, 0,
        59,  113, 173, 233, 0,   81,  140, 214, 255, 48,  100, 162},
       1},
      {"Posterize",
       ApplyPosterize,
       1,
       {32,  64,  112, 144, 176, 48,  80,  128, 160, 192, 64,  96,
        144, 176, 48,  80,  112, 144, 192, 48,  96,  128, 160, 32,
        64,  112, 144, 176, 48,  80,  128, 160, 192, 64,  96,  144},
       0},
      {"Solarize",
       ApplySolarize,
       0.5,
       {40,  77,  114, 104, 67,  55, 92,  126, 89,  52,  70,  107,
        111, 74,  48,  85,  122, 96, 59,  63,  100, 118, 81,  41,
        78,  115, 103, 66,  56,  93, 125, 88,  51,  71,  108, 110},
       0},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    CHECK(AreNear(After(one.apply, one.strength, Coloured()).pixels,
                  one.expected, one.most));
  }
}

TEST_CASE("randaugment: operations that leave some pictures as they are") {
  const Picture in = Coloured();
  for (const Apply apply :
       {ApplyIdentity, ApplyShearX, ApplyShearY, ApplyTranslateX,
        ApplyTranslateY, ApplyRotate, ApplyBrightness, ApplyColor,
        ApplyContrast, ApplySharpness, ApplyPosterize}) {
    CHECK(After(apply, 0, in).pixels == in.pixels);
  }
  CHECK(After(ApplyIdentity, 1, in).pixels == in.pixels);
  // One value has nothing to be spread over, a white pixel a threshold of 255.
  const Picture even{2, 2, 1, {7, 7, 7, 7}}, grey{2, 1, 1, {3, 255}};
  CHECK(After(ApplyAutoContrast, 0, even).pixels == even.pixels);
  CHECK(After(ApplyEqualize, 0, even).pixels == even.pixels);
  CHECK(After(ApplyColor, 1, grey).pixels == grey.pixels);
  CHECK(After(ApplySolarize, 0, grey).pixels == Pixels{3, 0});
}

// By hand: row y is read 0.3 (y + 0.5) further to the right.
TEST_CASE("randaugment: sheared about the upper left corner") {
  const Picture in{4, 2, 1, {0, 40, 80, 120, 0, 40, 80, 120}};
  const Picture rows = After(ApplyShearX, 1, in);
  CHECK(rows.pixels == Pixels{6, 46, 86, 117, 18, 58, 98, 111});
  const Picture back = After(ApplyShearX, -1, in);
  CHECK(back.pixels == Pixels{15, 34, 74, 114, 45, 22, 62, 102});
  // Columns are what rows are of the picture turned over.
  const Picture over{2, 4, 1, {0, 0, 40, 40, 80, 80, 120, 120}};
  CHECK(After(ApplyShearY, 1, over).pixels ==
        Pixels{6, 18, 46, 58, 86, 98, 117, 111});
}

TEST_CASE("randaugment: moved by at most 150 of 331 parts, cut to pixels") {
  const Picture in{5, 1, 1, {1, 2, 3, 4, 5}}, over{1, 5, 1, {1, 2, 3, 4, 5}};
  CHECK(After(ApplyTranslateX, 1, in).pixels == Pixels{99, 99, 1, 2, 3});
  CHECK(After(ApplyTranslateX, -0.5, in).pixels == Pixels{2, 3, 4, 5, 99});
  CHECK(After(ApplyTranslateY, 1, over).pixels == Pixels{99, 99, 1, 2, 3});
  CHECK(After(ApplyTranslateY, -1, over).pixels == Pixels{3, 4, 5, 99, 99});
}

// A plane of values stays one, seen from the turned axes.
TEST_CASE("randaugment: turned about the centre, against the clock") {
  Picture in{5, 5, 1, {}};
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 5; ++x) {
      in.pixels.push_back(static_cast<uint8_t>(100 + 4 * x + 20 * y));
    }
  }
  const Picture turned = After(ApplyRotate, 1, in);
  const double a = std::cos(std::acos(-1.0) / 6), b = 0.5;
  for (int y = 1; y < 4; ++y) {
    for (int x = 1; x < 4; ++x) {
      const double dx = x - 2, dy = y - 2;
      const double u = 2 + a * dx - b * dy, v = 2 + b * dx + a * dy;
      CHECK(std::abs(turned.row(y)[x] - (100 + 4 * u + 20 * v)) <= 0.51);
    }
  }
  // 0.27 parts of the upper row, near 105, and the rest of what is outside.
  CHECK(turned.row(0)[0] == 101);
  // The right of the middle row goes up: what stands above it was at its right.
  CHECK(turned.row(1)[2] > in.row(1)[2]);
}

// 256 * 4 values, each four times: the k-th value becomes the k-th of 256, as
// there are (1024 - 4) / 255 = 4 pixels for each step.
TEST_CASE("randaugment: equalized values are as far apart as they are many") {
  Picture in{32, 32, 1, Pixels(1024)};
  for (size_t i = 0; i < 1024; ++i) {
    in.pixels[i] = static_cast<uint8_t>(i / 4 < 128 ? i / 8 : 192 + i / 16);
  }
  const Picture out = After(ApplyEqualize, 0, in);
  for (size_t i = 0; i < 1024; ++i) {
    // Half a step and all that is below, in steps.
    const size_t below = i < 512 ? i / 8 * 8 : 512 + (i - 512) / 16 * 16;
    const size_t last = 16, step = (1024 - last) / 255;
    CHECK(out.pixels[i] == std::min<size_t>((below + step / 2) / step, 255));
  }
}

TEST_CASE("randaugment: N operations of all that there are, of magnitude M") {
  std::set<Pixels> seen;
  for (uint64_t key = 0; key < 300; ++key) {
    Picture once = Coloured(), again = Coloured(), none = Coloured();
    Draws first(key), second(key), third(key);
    RandAugment({1, 15}, 0, first, &once);
    RandAugment({1, 15}, 0, second, &again);
    RandAugment({0, 15}, 0, third, &none);
    CHECK(once.pixels == again.pixels);
    CHECK(none.pixels == Coloured().pixels);
    CHECK(once.pixels.size() == none.pixels.size());
    seen.insert(once.pixels);
  }
  // Seven operations both ways, posterize, solarize, contrast that is spread, and
  // the picture as it is: so small a one is neither moved nor equalized.
  CHECK(seen.size() == 7 * 2 + 3 + 1);
}

TEST_CASE("randaugment: an option of sources of pictures") {
  const TestFolder folder;
  folder.Write("a/1.png", PngOf(24, 24, 3, 5));
  const std::string spec = "folder:" + folder.path();
  const auto with = [](const char* text) {
    return Options(1, {{"data_shape", "3,16,16"}, {"randaugment", text}});
  };
  IteratorOptions options = with("2,9");
  options.threads = 0;
  const auto alone = MustOpen(spec, options);
  options.threads = 3;
  const auto threads = MustOpen(spec, options);
  std::set<std::vector<float>> seen;
  for (int epoch = 0; epoch < 6; ++epoch) {
    const auto batches = Drain(*alone);
    CHECK(batches == Drain(*threads));
    seen.insert(batches[0].data[0]);
  }
  CHECK(seen.size() > 3);
  for (const char* wrong : {"2", "2,31", "-1,3", "2,9,1", "x"}) {
    CHECK(Says(Refusal(spec, with(wrong)),
               std::string("randaugment=") + wrong +
                   ": expected N,M, like 2,9: operations for a picture, and "
                   "their magnitude from 0 to 30"));
  }
  CHECK(Says(SourceHelp("folder"), "  randaugment=0,0"));
}

}  // namespace
}  // namespace mxc::data
