// SPDX-License-Identifier: Apache-2.0
// What is drawn about the look of pictures.
#include "runtime/data/picture/augment.h"

#include <algorithm>
#include <cmath>

#include "tests/data/batches.h"

namespace mxc::data {
namespace {

Picture Ramp(int width, int height, int channels) {
  Picture picture{width, height, channels, {}};
  for (int i = 0; i < width * height * channels; ++i) {
    picture.pixels.push_back(static_cast<uint8_t>(40 + i * 37 % 170));
  }
  return picture;
}

Picture Warped(const LookOptions& options, Picture picture) {
  Draws draws(3);
  Warp(options, 7, draws, &picture);
  return picture;
}

// cv::warpAffine with MXNet's matrix turns against the clock.
TEST_CASE("augment: turned by quarters the pixels are those of the picture") {
  const Picture in{2, 2, 1, {1, 2, 3, 4}};
  CHECK(Warped({.rotate = 90}, in).pixels == std::vector<uint8_t>{2, 4, 1, 3});
  CHECK(Warped({.rotate = 180}, in).pixels == std::vector<uint8_t>{4, 3, 2, 1});
  CHECK(Warped({.rotate = 360}, in).pixels == in.pixels);
  CHECK(Warped({}, in).pixels == in.pixels);
  // What a narrow picture does not cover is filled.
  const Picture line{3, 1, 1, {1, 2, 3}};
  CHECK(Warped({.rotate = 90}, line).pixels == std::vector<uint8_t>{7, 2, 7});
}

TEST_CASE("augment: shearing shifts rows and leaves the centre") {
  bool differs = false;
  for (uint64_t key = 0; key < 20; ++key) {
    Picture picture = Ramp(9, 9, 1);
    Draws draws(key);
    Warp({.max_shear_ratio = 0.5}, 0, draws, &picture);
    CHECK(picture.row(4)[4] == Ramp(9, 9, 1).row(4)[4]);
    differs = differs || picture.pixels != Ramp(9, 9, 1).pixels;
  }
  CHECK(differs);
}

double Mean(const Picture& picture) {
  double sum = 0;
  for (const uint8_t value : picture.pixels) sum += value;
  return sum / static_cast<double>(picture.pixels.size());
}

TEST_CASE(
    "augment: brightness scales, contrast keeps the mean, saturation greys") {
  for (uint64_t key = 0; key < 10; ++key) {
    const Picture in = Ramp(8, 8, 1);
    Picture bright = in, contrast = in;
    Draws one(key), other(key);
    ChangeColors({.brightness = 0.2}, one, &bright);
    const double by = Mean(bright) / Mean(in);
    CHECK(std::abs(by - 1) <= 0.21);
    for (size_t i = 0; i < in.pixels.size(); ++i) {
      CHECK(std::abs(bright.pixels[i] - std::min(255.0, by * in.pixels[i])) <=
            1.5);
    }
    ChangeColors({.contrast = 0.2}, other, &contrast);
    CHECK(std::abs(Mean(contrast) - Mean(in)) < 1);
    Picture grey{1, 1, 3, {90, 90, 90}};
    ChangeColors({.saturation = 1}, one, &grey);
    CHECK(grey.pixels == std::vector<uint8_t>{90, 90, 90});
  }
}

// Hues of the six corners of the cube, by definition.
TEST_CASE("augment: a hue that turns goes through the colours") {
  bool differs = false;
  for (uint64_t key = 0; key < 40; ++key) {
    Picture red{1, 1, 3, {200, 50, 50}};
    Draws draws(key);
    ChangeColors({.random_h = 180}, draws, &red);
    // Lightness and saturation stay: the least and the largest value.
    const auto [least, most] = std::ranges::minmax(red.pixels);
    CHECK(std::abs(least - 50) <= 1);
    CHECK(std::abs(most - 200) <= 1);
    differs = differs || red.pixels[0] < 100;
    Picture same{2, 1, 3, {10, 200, 30, 0, 0, 255}};
    const Picture before = same;
    Draws again(key);
    ChangeColors({.random_s = 0, .random_l = 0}, again, &same);
    CHECK(same.pixels == before.pixels);
  }
  CHECK(differs);
}

TEST_CASE(
    "augment: a part of 2 to 33 percent is erased, of a share of pictures") {
  int erased = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    Picture picture{20, 20, 3, std::vector<uint8_t>(1200, 9)};
    Draws draws(key);
    Erase(0.5, {1, 2, 3}, draws, &picture);
    const auto count = std::ranges::count(picture.pixels, 1);
    CHECK(std::ranges::count(picture.pixels, 3) == count);
    if (count == 0) continue;
    ++erased;
    CHECK(count >= 4);
    CHECK(count <= 150);
  }
  CHECK(erased > 70);
  CHECK(erased < 130);
}

TEST_CASE(
    "augment: the same picture for one seed and epoch, from every source") {
  const TestFolder folder;
  folder.Write("a/1.png", PngOf(24, 24, 3, 5));
  const Settings settings = {
      {"data_shape", "3,16,16"},  {"rand_crop", "1"},
      {"max_rotate_angle", "20"}, {"max_shear_ratio", "0.2"},
      {"brightness", "0.3"},      {"contrast", "0.3"},
      {"saturation", "0.3"},      {"random_h", "20"},
      {"random_erasing", "0.5"}};
  IteratorOptions options = Options(1, settings);
  options.threads = 0;
  const auto a = MustOpen("folder:" + folder.path(), options);
  options.threads = 3;
  const auto b = MustOpen("folder:" + folder.path(), options);
  std::vector<Seen> first;
  for (int epoch = 0; epoch < 4; ++epoch) {
    const auto seen = Drain(*a);
    CHECK(seen == Drain(*b));
    CHECK((first.empty() || seen[0].data != first[0].data));
    first = seen;
  }
}

}  // namespace
}  // namespace mxc::data
