// SPDX-License-Identifier: Apache-2.0
// Pictures into inputs: decoding, resizing, normalizing, layout.
#include "tools/run/picture.h"

#include <doctest/doctest.h>
#include <png.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/data/picture/transform.h"
#include "runtime/formats/npy.h"
#include "tests/runtime/test_artifact.h"
#include "tools/run/failure.h"
#include "tools/run/feed.h"

// jpeglib.h needs FILE.
#include <jpeglib.h>

namespace mxc::run {
namespace {

std::string Png(int width, int height, const std::vector<uint8_t>& rgb) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, rgb.data(), 0, nullptr);
  std::string bytes(size, '\0');
  png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0,
                            nullptr);
  bytes.resize(size);
  return bytes;
}

std::string Jpeg(int width, int height, const std::vector<uint8_t>& rgb) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr error{};
  encoder.err = jpeg_std_error(&error);
  jpeg_create_compress(&encoder);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &bytes, &size);
  encoder.image_width = static_cast<JDIMENSION>(width);
  encoder.image_height = static_cast<JDIMENSION>(height);
  encoder.input_components = 3;
  encoder.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 95, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = const_cast<uint8_t*>(
        &rgb[encoder.next_scanline * static_cast<size_t>(width) * 3]);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::string result(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return result;
}

runtime::Bytes AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

mxc_tensor Tensor(const std::vector<int64_t>& dims) {
  mxc_tensor tensor = {
      "data",      MXC_F32,       static_cast<int>(dims.size()),
      dims.data(), sizeof(float), MXC_USE_DATA};
  for (const int64_t dim : dims) tensor.bytes *= static_cast<uint64_t>(dim);
  return tensor;
}

std::vector<float> Filled(const std::vector<int64_t>& dims,
                          const std::vector<std::string>& files,
                          const PictureOptions& options = {}) {
  const mxc_tensor tensor = Tensor(dims);
  std::vector<float> values(tensor.bytes / sizeof(float));
  FillInput(tensor, std::as_writable_bytes(std::span(values)), files, options);
  return values;
}

std::string FailureOf(const std::vector<int64_t>& dims,
                      const std::vector<std::string>& files,
                      const PictureOptions& options = {}) {
  try {
    Filled(dims, files, options);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

// Two by two: red, green, blue, white.
const std::vector<uint8_t> kColors = {255, 0, 0,   0,   255, 0,
                                      0,   0, 255, 255, 255, 255};

}  // namespace

TEST_CASE("a picture is laid out as the input wants it") {
  const std::string file = test::WriteTemporary("c.png", Png(2, 2, kColors));
  CHECK(Filled({1, 3, 2, 2}, {file}) ==
        std::vector<float>{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255});
  CHECK(Filled({1, 2, 2, 3}, {file}) ==
        std::vector<float>(kColors.begin(), kColors.end()));
  PictureOptions options;
  options.blue_first = true;
  CHECK(Filled({1, 3, 2, 2}, {file}, options) ==
        std::vector<float>{0, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255});
  options = {};
  options.mean = {5, 10, 15};
  options.deviation = {2, 4, 8};
  options.scale = 3;
  const std::vector<float> values = Filled({1, 3, 2, 2}, {file}, options);
  CHECK(values[0] == 375.0f);                // (255 − 5) / 2 · 3
  CHECK(values[4] == -7.5f);                 // (0 − 10) / 4 · 3
  CHECK(values[11] == (255 - 15) * 0.375f);  // white's blue
  // Grey, and two pictures in a batch.
  CHECK(Filled({1, 1, 2, 2}, {file})[3] == 255.0f);
  CHECK(Filled({2, 3, 2, 2}, {file, file}).size() == 24);
}

TEST_CASE("resizing keeps what is constant and averages what is not") {
  const Pixels constant{5, 7, 1, std::vector<float>(35, 42.0f)};
  for (const auto& [w, h] : {std::pair(3, 3), std::pair(10, 14)}) {
    const Pixels resized = Resize(constant, w, h);
    CHECK(resized.values.size() == static_cast<size_t>(w * h));
    for (const float value : resized.values) {
      CHECK(value == doctest::Approx(42.0f));
    }
  }
  // A ramp stays a ramp: the middle of the reduced one is the middle.
  Pixels ramp{64, 1, 1, {}};
  for (int i = 0; i < 64; ++i) ramp.values.push_back(static_cast<float>(i));
  const Pixels small = Resize(ramp, 8, 1);
  for (size_t i = 1; i + 1 < 8; ++i) {
    CHECK(small.values[i] ==
          doctest::Approx(static_cast<double>(i) * 8 + 3.5).epsilon(1e-4));
  }
  // Enlarging interpolates linearly between the pixels' centres.
  const Pixels two{2, 1, 1, {0, 4}};
  CHECK(Resize(two, 4, 1).values == std::vector<float>{0, 1, 3, 4});
}

TEST_CASE("--resize fits and cuts out the centre") {
  // Six by two, columns 0 to 5: the centre is columns 2 and 3.
  std::vector<uint8_t> columns;
  for (int y = 0; y < 2; ++y) {
    for (uint8_t x = 0; x < 6; ++x) columns.insert(columns.end(), 3, x);
  }
  const std::string file = test::WriteTemporary("w.png", Png(6, 2, columns));
  PictureOptions options;
  options.resize = "short";
  CHECK(Filled({1, 1, 2, 2}, {file}, options) ==
        std::vector<float>{2, 3, 2, 3});
  options.resize = "2";
  CHECK(Filled({1, 1, 2, 2}, {file}, options) ==
        std::vector<float>{2, 3, 2, 3});
  options.resize = "6x2";
  CHECK(Filled({1, 1, 2, 2}, {file}, options) ==
        std::vector<float>{2, 3, 2, 3});
  options.resize = "1x1";
  CHECK(FailureOf({1, 1, 2, 2}, {file}, options) ==
        file + ": resized to 1x1, which is smaller than the input's 2x2");
}

TEST_CASE("without options a picture is treated as in training") {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 9 * 7 * 3; ++i) {
    pixels.push_back(static_cast<uint8_t>(i * 37 % 251));
  }
  const std::string file = test::WriteTemporary("t.png", Png(9, 7, pixels));
  PictureOptions options;
  options.trained.emplace();
  options.trained->data_shape = {3, 4, 4};
  options.trained->fit = "crop";
  options.trained->order = "rgb";
  options.trained->resize = 6;
  options.trained->mean_g = 100;
  options.trained->std_b = 4;
  data::PictureOptions trained;
  trained.Take(*options.trained);
  std::vector<float> expected(3 * 4 * 4);
  Picture picture = DecodePicture(AsBytes(Png(9, 7, pixels)), 3, "t");
  REQUIRE(data::PictureTransform::Make(trained, "t")
              ->Apply(picture, data::Draws(1),
                      std::as_writable_bytes(std::span(expected)).data())
              .ok());
  CHECK(Filled({1, 3, 4, 4}, {file}, options) == expected);
  // The input's layout, and options, win.
  const std::vector<float> last = Filled({1, 4, 4, 3}, {file}, options);
  CHECK(last[3 * 5 + 1] == expected[16 + 5]);
  options.mean = {0, 0, 0};
  options.blue_first = true;
  const std::vector<float> raw = Filled({1, 3, 4, 4}, {file}, options);
  CHECK(raw[16 + 5] == expected[16 + 5] + 100);
  CHECK(raw[5] == expected[32 + 5]);
  CHECK(DescribeTrained(options) ==
        "std 1, 1, 4, shorter side 6, centre cut out, blue first");
  options.resize = "short";
  CHECK(Filled({1, 3, 4, 4}, {file}, options) != raw);
  // The shorter side is what training makes it, whoever says so.
  options.resize = "5";
  const std::vector<float> told = Filled({1, 3, 4, 4}, {file}, options);
  CHECK(told != raw);
  options.trained->resize = 5;
  options.resize.clear();
  CHECK(Filled({1, 3, 4, 4}, {file}, options) == told);
  options.trained.reset();
  CHECK(DescribeTrained(options) == "");
}

// An array of bytes in the input's axes is such a picture, without being resized.
TEST_CASE("pixels in an array become what those of a picture do") {
  const std::string png = test::WriteTemporary("p.png", Png(2, 2, kColors));
  const auto array = [](const char* name, std::vector<int64_t> shape,
                        const std::vector<uint8_t>& pixels) {
    auto made = runtime::Array::Allocate(runtime::ElementType::kU8, shape);
    REQUIRE(made.ok());
    std::memcpy(made->bytes().data(), pixels.data(), pixels.size());
    std::string file = test::WriteTemporary(name, "");
    REQUIRE(runtime::WriteNpy(file, *made).ok());
    return file;
  };
  const std::string last = array("l.npy", {1, 2, 2, 3}, kColors);
  std::vector<uint8_t> planes;
  for (size_t i = 0; i < 12; ++i) planes.push_back(kColors[i % 4 * 3 + i / 4]);
  const std::string first = array("f.npy", {3, 2, 2}, planes);
  PictureOptions options;
  // Nothing says what becomes of pixels: numbers like any others.
  CHECK(Filled({1, 3, 2, 2}, {first}, options) ==
        std::vector<float>(planes.begin(), planes.end()));
  options.trained.emplace();
  options.trained->fit = "crop";
  options.trained->resize = 9;
  options.trained->mean_g = 100;
  options.trained->std_b = 4;
  options.trained->scale = 0.5;
  for (const auto& given :
       {std::optional<std::array<float, 3>>(), {{1, 2, 3}}}) {
    options.mean = given;
    for (const bool blue_first : {false, true}) {
      options.blue_first = blue_first;
      PictureOptions of_size = options;
      of_size.trained->resize = -1;
      CHECK(Filled({1, 3, 2, 2}, {first}, options) ==
            Filled({1, 3, 2, 2}, {png}, of_size));
      CHECK(Filled({1, 2, 2, 3}, {last}, options) ==
            Filled({1, 2, 2, 3}, {png}, of_size));
    }
  }
  CHECK(DescribeTrained(options, /*have_size=*/true) ==
        "mean 1, 2, 3, std 1, 1, 4, scale 0.5, blue first");
  // Of a network that takes no pictures they are numbers, too.
  CHECK(Filled({1, 12}, {array("n.npy", {1, 12}, planes)}, options) ==
        std::vector<float>(planes.begin(), planes.end()));
}

TEST_CASE("JPEG decodes to about what was encoded") {
  std::vector<uint8_t> smooth;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      smooth.push_back(static_cast<uint8_t>(x * 8));
      smooth.push_back(static_cast<uint8_t>(y * 8));
      smooth.push_back(100);
    }
  }
  const Picture picture =
      DecodePicture(AsBytes(Jpeg(32, 32, smooth)), 3, "x.jpg");
  REQUIRE(picture.width == 32);
  for (size_t i = 0; i < smooth.size(); ++i) {
    CHECK(std::abs(picture.pixels[i] - smooth[i]) <= 12);
  }
}

TEST_CASE("wrong files get a sentence") {
  const std::string file = test::WriteTemporary("c.png", Png(2, 2, kColors));
  CHECK(FailureOf({1, 10}, {file}) ==
        "input 'data' float32 (1, 10) does not take pictures");
  CHECK(FailureOf({2, 3, 2, 2}, {file}) ==
        "input 'data' float32 (2, 3, 2, 2) takes 2 pictures, but 1 are given");
  const std::string text = test::WriteTemporary("text", "GIF89a…");
  CHECK(FailureOf({1, 3, 2, 2}, {text}) != "");
  CHECK(FailureOf({1, 3, 2, 2}, {"/nowhere.png"}) ==
        "cannot open '/nowhere.png': No such file or directory");
}

TEST_CASE("damaged pictures never crash") {
  std::mt19937 random(11);
  for (const std::string& good : {Png(2, 2, kColors), Jpeg(2, 2, kColors)}) {
    for (int seed = 0; seed < 2000; ++seed) {
      std::string bytes = good;
      if (seed % 2 == 0) bytes.resize(random() % bytes.size());
      for (int n = 0; n < 3 && !bytes.empty(); ++n) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      try {
        DecodePicture(AsBytes(bytes), 3, "x");
      } catch (const Failure& failure) {
        CHECK(failure.messages().size() == 1);
      }
    }
  }
}

}  // namespace mxc::run
