// SPDX-License-Identifier: Apache-2.0
// What a source does to its samples before a network sees them, so that who
// runs the network later can do the same: kept in artifacts and checkpoints as
// one line of text, "data_shape=3,224,224 resize=256 mean_r=123.68 …", in the
// words of --data-opt.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/data/picture/picture.h"
#include "runtime/data/settings.h"

namespace mxc::data {

// What is done to every picture alike, nothing drawn at random:
// value = (pixel − mean) / std · scale.
struct PictureSteps {
  int64_t resize = -1, pad = 0, fill_value = 255;
  bool mirror = false;
  double mean_r = 0, mean_g = 0, mean_b = 0;
  double std_r = 1, std_g = 1, std_b = 1;
  double scale = 1;
  std::string mean_img;  // a file
  Orientation orientation = Orientation::kExif;
  bool blue_first = false;

  template <class Fields>
  void Describe(Fields& f) {
    f("resize", resize, "length of the shorter side before cropping; -1: as is",
      Range{-1, 16384});
    f("pad", pad, "pixels added on each side before cropping", Range{0, 16384});
    f("fill_value", fill_value, "of the pixels that pad adds", Range{0, 255});
    f("mirror", mirror, "flip every picture");
    f("mean_r", mean_r, "subtracted from red, or grey");
    f("mean_g", mean_g, "subtracted from green");
    f("mean_b", mean_b, "subtracted from blue");
    f("std_r", std_r, "red, or grey, is divided by it");
    f("std_g", std_g, "green is divided by it");
    f("std_b", std_b, "blue is divided by it");
    f("scale", scale, "then multiplied by it");
    f("mean_img", mean_img,
      "file with a mean for every pixel: an NDArray of data_shape, or a "
      "BlobProto of Caffe, from which what is cut out of the picture is cut");
    f.Choice("orientation", orientation, {"exif", "stored"},
             "turned as EXIF data say, or as stored");
    f("blue_first", blue_first,
      "the first channel is blue, the last one red, as OpenCV and Caffe have "
      "them");
  }
  bool operator==(const PictureSteps&) const = default;
};

struct Preprocessing : PictureSteps {
  Extents data_shape;             // of a sample
  std::string dtype = "float32";  // of its elements
  // Of pictures: how they become as large as the input, "crop" (the shorter
  // side becomes `resize` where that is positive, `pad` is added, what is too
  // small enlarged, the centre cut out) or "stretch"; empty: there are none.
  std::string fit;
  std::string order;   // of the channels: "rgb" or "grey"
  std::string layout;  // "NCHW" or "NHWC"

  template <class Fields>
  void Describe(Fields& f) {
    f("data_shape", data_shape, "of a sample");
    f("dtype", dtype, "of its elements");
    f("fit", fit, "crop or stretch");
    f("order", order, "rgb or grey");
    f("layout", layout, "NCHW or NHWC");
    PictureSteps::Describe(f);
  }
  bool operator==(const Preprocessing&) const = default;
};

// One line, and back; what is as the defaults have it is left out.
std::string PreprocessingText(const Preprocessing& preprocessing);
StatusOr<Preprocessing> ParsePreprocessing(std::string_view line);

// For people: "mean 123.68, 116.78, 103.94, scale 0.017; shorter side 256,
// centre cut out".
std::string DescribePreprocessing(const Preprocessing& preprocessing);

}  // namespace mxc::data
