// SPDX-License-Identifier: Apache-2.0
// Pictures that are mirrored, or whose colours change, by chance: a row for
// each.
// C1: see image_color.h
#include "ir/ops/tensor/image/image_color.h"

namespace mxc {

// _image_random_brightness: a picture, brighter or darker by chance.
MXC_OP(ImageRandomBrightness) {
  return RandomColorOperator("brightness",
                             "a picture, brighter or darker by chance",
                             ColorAdjustment::kBrightness);
}

// _image_random_contrast: a picture with more or less contrast by chance.
MXC_OP(ImageRandomContrast) {
  return RandomColorOperator("contrast",
                             "a picture with more or less contrast by chance",
                             ColorAdjustment::kContrast);
}

// _image_random_saturation: a picture, more or less colourful by chance.
MXC_OP(ImageRandomSaturation) {
  return RandomColorOperator("saturation",
                             "a picture, more or less colourful by chance",
                             ColorAdjustment::kSaturation);
}

// _image_random_hue: a picture with its hues turned by chance.
MXC_OP(ImageRandomHue) {
  return RandomColorOperator("hue", "a picture with its hues turned by chance",
                             ColorAdjustment::kHue);
}

// _image_random_flip_left_right: a picture, mirrored by chance.
MXC_OP(ImageRandomFlipLeftRight) {
  return RandomFlipOperator("left_right", "a picture, mirrored by chance",
                            OperatorOf<op::ImageFlipLeftRight>);
}

// _image_random_flip_top_bottom: a picture, upside down by chance.
MXC_OP(ImageRandomFlipTopBottom) {
  return RandomFlipOperator("top_bottom", "a picture, upside down by chance",
                            OperatorOf<op::ImageFlipTopBottom>);
}

}  // namespace mxc
