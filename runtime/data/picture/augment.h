// SPDX-License-Identifier: Apache-2.0
// What is drawn at random about the look of a picture: turned, sheared, other
// light and colours, a part erased. Names and arithmetic of MXNet 1.9.1's
// ImageRecordIter (src/io/image_aug_default.cc), but random_erasing, which is
// torchvision's RandomErasing.
#pragma once

#include <optional>

#include "runtime/data/picture/picture.h"
#include "runtime/data/random.h"
#include "runtime/data/settings.h"

namespace mxc::data {

struct LookOptions {
  int64_t max_rotate_angle = 0, rotate = -1;
  double max_shear_ratio = 0;
  double brightness = 0, contrast = 0, saturation = 0;
  int64_t random_h = 0, random_s = 0, random_l = 0;
  double random_erasing = 0;

  bool changes_colors() const {
    return brightness > 0 || contrast > 0 || saturation > 0 || random_h > 0 ||
           random_s > 0 || random_l > 0;
  }

  template <class Fields>
  void Describe(Fields& f) {
    f.Training("max_rotate_angle", max_rotate_angle,
               "most degrees by which pictures are turned, either way",
               Range{0, 180});
    f("rotate", rotate, "turn all by so many degrees; -1: none",
      Range{-1, 360});
    f.Training("max_shear_ratio", max_shear_ratio,
               "most pixels by which a row is shifted against the next",
               Range{0, 10});
    f.Training("brightness", brightness,
               "most by which brightness differs from 1", kShare);
    f.Training("contrast", contrast, "most by which contrast differs from 1",
               kShare);
    f.Training("saturation", saturation,
               "most by which saturation differs from 1", kShare);
    f.Training("random_h", random_h, "most that is added to the hue, of 180",
               Range{0, 180});
    f.Training("random_s", random_s,
               "most that is added to the saturation, of 255", Range{0, 255});
    f.Training("random_l", random_l,
               "most that is added to the lightness, of 255", Range{0, 255});
    f.Training("random_erasing", random_erasing,
               "share of the pictures of which a part is erased", kShare);
  }
};

// Places a part of a picture, every place equally likely; nothing where it is
// empty or does not fit.
struct PartCorner {
  int left, top;
};
std::optional<PartCorner> DrawPart(int width, int height,
                                   const Picture& picture, Draws& draws);

// Turns and shears about the centre, without changing the size; what comes into
// view has the value `fill`.
void Warp(const LookOptions& options, uint8_t fill, Draws& draws,
          Picture* picture);

// Brightness, contrast and saturation, in an order that is drawn, then hue.
void ChangeColors(const LookOptions& options, Draws& draws, Picture* picture);

// Of a share of the pictures a rectangle of 2 to 33 % of the pixels, as wide as
// 0.3 to 3.3 times its height, becomes `color`.
void Erase(double share, const uint8_t (&color)[3], Draws& draws,
           Picture* picture);

}  // namespace mxc::data
