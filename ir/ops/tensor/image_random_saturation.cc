// SPDX-License-Identifier: Apache-2.0
// _image_random_saturation: a picture, more or less colourful by chance.
// C1: see image_color.h
#include "ir/ops/tensor/image_color.h"

namespace mxc {

MXC_OP(ImageRandomSaturation) {
  return RandomColorOperator("saturation",
                             "a picture, more or less colourful by chance",
                             ColorAdjustment::kSaturation);
}

}  // namespace mxc
