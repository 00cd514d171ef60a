// SPDX-License-Identifier: Apache-2.0
// _image_random_brightness: a picture, brighter or darker by chance.
// C1: see image_color.h
#include "ir/ops/tensor/image_color.h"

namespace mxc {

MXC_OP(ImageRandomBrightness) {
  return RandomColorOperator("brightness",
                             "a picture, brighter or darker by chance",
                             ColorAdjustment::kBrightness);
}

}  // namespace mxc
