// SPDX-License-Identifier: Apache-2.0
// _image_flip_left_right: pictures mirrored, left for right.
//   data t[(N,) H, W, C]
// C1  data has rank 3 or 4
#include "ir/ops/tensor/image.h"

namespace mxc {
namespace {

std::vector<Value> ImageFlipLeftRightParts(const NoAttrs&, const Node& node,
                                           GraphBuilder& b) {
  const int axis = node.types[0].shape.rank() - 2;
  return {b.Op("reverse", node.inputs, {{"axis", fmt::format("({},)", axis)}})};
}

}  // namespace

MXC_OP(ImageFlipLeftRight) {
  return Op<>("_image_flip_left_right")
      .Alias({"_npx__image_flip_left_right"})
      .Doc("pictures mirrored, left for right")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        RequireImage(t);
      })
      .Decompose(ImageFlipLeftRightParts);
}

}  // namespace mxc
