// SPDX-License-Identifier: Apache-2.0
// From a decoded picture to a tensor: the options and the arithmetic of MXNet
// 1.9.1's ImageRecordIter (src/io/image_aug_default.cc, iter_normalize.h).
//   resize → turn, shear → pad → enlarge where it is too small → crop →
//   RandAugment → colours → erase → mirror → normalize
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/picture/augment.h"
#include "runtime/data/picture/picture.h"
#include "runtime/data/picture/randaugment.h"
#include "runtime/data/preprocessing.h"
#include "runtime/data/random.h"
#include "runtime/data/settings.h"

namespace mxc::data {

enum class PictureType { kFloat32, kUint8, kInt8 };

struct PictureOptions : PictureSteps {
  Extents data_shape;
  bool rand_crop = false, rand_mirror = false;
  bool random_resized_crop = false;
  double min_random_area = 1, max_random_area = 1;
  double min_aspect_ratio = 1, max_aspect_ratio = 1;
  double max_random_contrast = 0, max_random_illumination = 0;
  RandAugmentOptions randaugment;
  LookOptions look;
  PictureType dtype = PictureType::kFloat32;

  // What is not drawn at random, as in training.
  void Take(const Preprocessing& trained);

  template <class Fields>
  void Describe(Fields& f) {
    f("data_shape", data_shape,
      "channels (1 or 3), height, width; empty: as the network takes them",
      Range{1, 16384});
    PictureSteps::Describe(f);
    f.Training("rand_crop", rand_crop,
               "crop anywhere instead of at the centre");
    f.Training("rand_mirror", rand_mirror, "flip every other picture");
    f.Training("random_resized_crop", random_resized_crop,
               "crop a random area and shape, then resize it");
    f.Training("min_random_area", min_random_area, "least share of the area",
               kShare);
    f.Training("max_random_area", max_random_area, "largest share of the area",
               kShare);
    f.Training("min_aspect_ratio", min_aspect_ratio, "least width by height",
               Range{0.01, 100});
    f.Training("max_aspect_ratio", max_aspect_ratio, "largest width by height",
               Range{0.01, 100});
    f.Training("max_random_contrast", max_random_contrast,
               "most by which contrast differs from 1", kAtLeast0);
    f.Training("max_random_illumination", max_random_illumination,
               "most that is added to every pixel", kAtLeast0);
    f.Training("randaugment", randaugment,
               "N,M: N operations of RandAugment for each picture, of "
               "magnitude M of 30");
    look.Describe(f);
    f.Choice("dtype", dtype, {"float32", "uint8", "int8"}, "of the data");
  }
};

// Planar; empty: there is none.
struct MeanPicture {
  std::vector<float> values;
  // Caffe's: as large as pictures before they are cropped, the first channel
  // blue. Else of the data_shape, the first one red.
  bool whole = false;
  int height = 0, width = 0;
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
  // A file's picture, as Apply takes it.
  Status Decode(runtime::Bytes file, Picture* picture) const {
    return DecodePicture(file, channels(), picture, options_.orientation);
  }
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
  // 0 is red, or grey.
  int ColourOf(int plane) const {
    return options_.blue_first ? channels() - 1 - plane : plane;
  }
  int height() const { return static_cast<int>(options_.data_shape[1]); }
  int width() const { return static_cast<int>(options_.data_shape[2]); }
  bool CropAreaAtRandom(Draws& draws, Picture* picture) const;
  Status Enlarge(Picture* picture) const;
  Window Choose(const Picture& picture, Draws& draws) const;
  void ChangeLook(Draws& draws, Window* window, Picture* picture) const;
  // `origin`: the window before the picture was changed, for the mean.
  void WriteFloats(const Picture& picture, const Window& window,
                   const Window& origin, Draws& draws, float* out) const;
  template <class T>
  void WriteBytes(const Picture& picture, const Window& window, T* out) const;

  PictureOptions options_;
  // Where the mean of the window's row y begins, and the step from pixel to
  // pixel of it; null: it is mean_.
  std::pair<const float*, int> MeanRow(int plane, int y,
                                       const Window& origin) const;

  double mean_[3] = {}, std_[3] = {};
  MeanPicture mean_picture_;
};

}  // namespace mxc::data
