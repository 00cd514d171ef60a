// SPDX-License-Identifier: Apache-2.0
// _image_flip_left_right: pictures mirrored, left for right.
//   data t[(N,) H, W, C]
// C1  see image.h
#include "ir/ops/tensor/image.h"

namespace mxc {

MXC_OP(ImageFlipLeftRight) {
  return ImageFlipOperator("flip_left_right",
                           "pictures mirrored, left for right", 2);
}

}  // namespace mxc
