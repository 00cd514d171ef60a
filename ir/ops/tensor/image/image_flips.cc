// SPDX-License-Identifier: Apache-2.0
// Pictures mirrored.
//   data t[(N,) H, W, C]
// C1  see image.h
#include "ir/ops/tensor/image/image.h"

namespace mxc {

// _image_flip_left_right: pictures mirrored, left for right.
MXC_OP(ImageFlipLeftRight) {
  return ImageFlipOperator("flip_left_right",
                           "pictures mirrored, left for right", 2);
}

// _image_flip_top_bottom: pictures mirrored, top for bottom.
MXC_OP(ImageFlipTopBottom) {
  return ImageFlipOperator("flip_top_bottom",
                           "pictures mirrored, top for bottom", 3);
}

}  // namespace mxc
