// SPDX-License-Identifier: Apache-2.0
// _image_to_tensor: pictures as a network reads them.
//   data t[(N,) H, W, C] of 0 … 255 → f32[(N,) C, H, W] of 0 … 1
// C1  data has rank 3 or 4
#include "ir/ops/tensor/image/image.h"

namespace mxc {
namespace {

void ImageToTensorTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, DType::kF32);
  if (!RequireImage(t)) return;
  Extents dims = t.In(0).dims();
  dims.insert(dims.end() - 3, dims.back());
  dims.pop_back();
  t.SetOut(0, Shape(dims));
}

void ImageToTensorMeaning(const NoAttrs&, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const auto channel = index.end() - 3;
  index.push_back(*channel);
  index.erase(index.end() - 4);
  def.Set(0, Cast(def.In(0, index), DType::kF32) / def.Lit(255));
}

}  // namespace

MXC_OP(ImageToTensor) {
  return Op<>("_image_to_tensor")
      .Alias({"_npx__image_to_tensor"})
      .Doc("pictures of bytes as planes of floats")
      .Types(ImageToTensorTypes)
      .Meaning(ImageToTensorMeaning);
}

}  // namespace mxc
