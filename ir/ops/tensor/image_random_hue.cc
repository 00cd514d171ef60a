// SPDX-License-Identifier: Apache-2.0
// _image_random_hue: a picture with its hues turned by chance.
// C1: see image_color.h
#include "ir/ops/tensor/image_color.h"

namespace mxc {

MXC_OP(ImageRandomHue) {
  return RandomColorOperator("hue", "a picture with its hues turned by chance",
                             ColorAdjustment::kHue);
}

}  // namespace mxc
