// SPDX-License-Identifier: Apache-2.0
// _image_flip_top_bottom: pictures mirrored, top for bottom.
//   data t[(N,) H, W, C]
// C1  data has rank 3 or 4
#include "ir/ops/tensor/image.h"

namespace mxc {
namespace {

std::vector<Value> ImageFlipTopBottomParts(const NoAttrs&, const Node& node,
                                           GraphBuilder& b) {
  const int axis = node.types[0].shape.rank() - 3;
  return {b.Op("reverse", node.inputs, {{"axis", fmt::format("({},)", axis)}})};
}

}  // namespace

MXC_OP(ImageFlipTopBottom) {
  return Op<>("_image_flip_top_bottom")
      .Alias({"_npx__image_flip_top_bottom"})
      .Doc("pictures mirrored, top for bottom")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        RequireImage(t);
      })
      .Decompose(ImageFlipTopBottomParts);
}

}  // namespace mxc
