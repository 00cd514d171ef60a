// SPDX-License-Identifier: Apache-2.0
// _image_flip_top_bottom: pictures mirrored, top for bottom.
//   data t[(N,) H, W, C]
// C1  see image.h
#include "ir/ops/tensor/image.h"

namespace mxc {

MXC_OP(ImageFlipTopBottom) {
  return ImageFlipOperator("flip_top_bottom",
                           "pictures mirrored, top for bottom", 3);
}

}  // namespace mxc
