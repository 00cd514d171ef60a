// SPDX-License-Identifier: Apache-2.0
// _image_random_flip_left_right: a picture, mirrored by chance.
// C1: see image_color.h
#include "ir/ops/tensor/image_color.h"

namespace mxc {

MXC_OP(ImageRandomFlipLeftRight) {
  return RandomFlipOperator("left_right", "a picture, mirrored by chance",
                            OperatorOf<op::ImageFlipLeftRight>);
}

}  // namespace mxc
