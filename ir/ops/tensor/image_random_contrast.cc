// SPDX-License-Identifier: Apache-2.0
// _image_random_contrast: a picture with more or less contrast by chance.
// C1: see image_color.h
#include "ir/ops/tensor/image_color.h"

namespace mxc {

MXC_OP(ImageRandomContrast) {
  return RandomColorOperator("contrast",
                             "a picture with more or less contrast by chance",
                             ColorAdjustment::kContrast);
}

}  // namespace mxc
