// SPDX-License-Identifier: Apache-2.0
// Pictures as a network's input: decoded, resized, normalized, laid out.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/data/picture/picture.h"

namespace mxc::run {

using data::IsPicture;
using data::Picture;

// `name` is for messages; throws a Failure.
Picture DecodePicture(runtime::Bytes bytes, int channels,
                      const std::string& name,
                      data::Orientation turned = data::Orientation::kExif);

// Pixels between 0 and 255, interleaved.
struct Pixels {
  int width = 0, height = 0, channels = 0;
  std::vector<float> values;
};

Pixels ToPixels(const Picture& picture);

// Resamples with a triangle filter that grows with the reduction, so that
// nothing aliases.
Pixels Resize(const Pixels& pixels, int width, int height);
Pixels CropCenter(const Pixels& pixels, int width, int height);

}  // namespace mxc::run
