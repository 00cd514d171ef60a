// SPDX-License-Identifier: Apache-2.0
// From a decoded picture to a tensor: the options and the arithmetic of MXNet
// 1.9.1's ImageRecordIter (src/io/image_aug_default.cc, iter_normalize.h).
//   resize → pad → enlarge where it is too small → crop → mirror → normalize
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/picture/picture.h"
#include "runtime/data/preprocessing.h"
#include "runtime/data/random.h"
#include "runtime/data/settings.h"

namespace mxc::data {

enum class PictureType { kFloat32, kUint8, kInt8 };

struct PictureOptions {
  Extents data_shape;
  int64_t resize = -1, pad = 0, fill_value = 255;
  bool rand_crop = false, rand_mirror = false, mirror = false;
  bool random_resized_crop = false;
  double min_random_area = 1, max_random_area = 1;
  double min_aspect_ratio = 1, max_aspect_ratio = 1;
  double mean_r = 0, mean_g = 0, mean_b = 0;
  double std_r = 1, std_g = 1, std_b = 1;
  double scale = 1, max_random_contrast = 0, max_random_illumination = 0;
  std::string mean_img;
  PictureType dtype = PictureType::kFloat32;

  // What is not drawn at random, as in training.
  void Take(const Preprocessing& trained);

  template <class Fields>
  void Describe(Fields& f) {
    constexpr Range kSide{1, 16384}, kEdge{0, 16384}, kByte{0, 255};
    f("data_shape", data_shape, "channels (1 or 3), height, width", kSide);
    f("resize", resize, "length of the shorter side before cropping; -1: as is",
      Range{-1, 16384});
    f("pad", pad, "pixels added on each side before cropping", kEdge);
    f("fill_value", fill_value, "of the pixels that pad adds", kByte);
    f("rand_crop", rand_crop, "crop anywhere instead of at the centre");
    f("rand_mirror", rand_mirror, "flip every other picture");
    f("mirror", mirror, "flip every picture");
    f("random_resized_crop", random_resized_crop,
      "crop a random area and shape, then resize it");
    f("min_random_area", min_random_area, "least share of the area", kShare);
    f("max_random_area", max_random_area, "largest share of the area", kShare);
    f("min_aspect_ratio", min_aspect_ratio, "least width by height",
      Range{0.01, 100});
    f("max_aspect_ratio", max_aspect_ratio, "largest width by height",
      Range{0.01, 100});
    f("mean_r", mean_r, "subtracted from red, or grey");
    f("mean_g", mean_g, "subtracted from green");
    f("mean_b", mean_b, "subtracted from blue");
    f("std_r", std_r, "red, or grey, is divided by it");
    f("std_g", std_g, "green is divided by it");
    f("std_b", std_b, "blue is divided by it");
    f("scale", scale, "then multiplied by it");
    f("max_random_contrast", max_random_contrast,
      "most by which contrast differs from 1", kAtLeast0);
    f("max_random_illumination", max_random_illumination,
      "most that is added to every pixel", kAtLeast0);
    f("mean_img", mean_img, "NDArray file with a mean for every pixel");
    f.Choice("dtype", dtype, {"float32", "uint8", "int8"}, "of the data");
  }
};

class PictureTransform {
 public:
  // Refuses options that contradict each other, and a mean_img that is not
  // there.
  static runtime::StatusOr<PictureTransform> Make(const PictureOptions& options,
                                                  const std::string& source);

  int channels() const { return static_cast<int>(options_.data_shape[0]); }
  Field field(std::string name) const;
  Preprocessing preprocessing() const;
  // Fills `out`, of the field's type and shape.
  Status Apply(Picture picture, Draws draws, std::byte* out) const;

 private:
  // The part of a picture that is kept.
  struct Window {
    int left = 0, top = 0;
    bool mirror = false;
  };

  explicit PictureTransform(const PictureOptions& options)
      : options_(options) {}
  int height() const { return static_cast<int>(options_.data_shape[1]); }
  int width() const { return static_cast<int>(options_.data_shape[2]); }
  bool CropAreaAtRandom(Draws& draws, Picture* picture) const;
  Status Enlarge(Picture* picture) const;
  Window Choose(const Picture& picture, Draws& draws) const;
  void WriteFloats(const Picture& picture, const Window& window, Draws& draws,
                   float* out) const;
  template <class T>
  void WriteBytes(const Picture& picture, const Window& window, T* out) const;

  PictureOptions options_;
  double mean_[3] = {}, std_[3] = {};
  std::vector<float> mean_picture_;  // planar; empty: mean_
};

}  // namespace mxc::data
