// SPDX-License-Identifier: Apache-2.0
// _image_random_flip_top_bottom: a picture, upside down by chance.
// C1: see image_color.h
#include "ir/ops/tensor/image_color.h"

namespace mxc {

MXC_OP(ImageRandomFlipTopBottom) {
  return RandomFlipOperator("top_bottom", "a picture, upside down by chance",
                            OperatorOf<op::ImageFlipTopBottom>);
}

}  // namespace mxc
