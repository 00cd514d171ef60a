// SPDX-License-Identifier: Apache-2.0
// _image_crop: the part of pictures whose upper left corner is (x, y).
//   data t[(N,) H, W, C] → t[(N,) height, width, C]
// C1  data has rank 3 or 4
// C2  the part lies within data
// Source: MXNet 1.9.1 operator/image/crop-inl.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/tensor/image/image.h"

namespace mxc {
namespace {

struct ImageCropAttrs {
  int64_t x = 0, y = 0, width = 1, height = 1;

  void Describe(Fields& f) {
    f("x", x).Required().Min(0).Doc("its first column");
    f("y", y).Required().Min(0).Doc("its first row");
    f("width", width).Required().Min(1).Doc("its columns");
    f("height", height).Required().Min(1).Doc("its rows");
  }
};

void ImageCropTypes(const ImageCropAttrs& a, TypeInference& t) {
  ImageTypes(t, a.height, a.width);
  const Shape& in = t.In(0);
  if (t.error() || !in.known()) return;
  const int64_t rows = in[in.rank() - 3], columns = in[in.rank() - 2];
  t.Require(a.height <= rows - a.y && a.width <= columns - a.x,
            "C2: {} x {} cells from column {}, row {} on exceed {} x {}",
            a.width, a.height, a.x, a.y, columns, rows);
}

}  // namespace

MXC_OP(ImageCrop) {
  return Op<ImageCropAttrs>("_image_crop")
      .Alias({"_npx__image_crop"})
      .Doc("a part of pictures")
      .Types(ImageCropTypes)
      .Meaning([](const ImageCropAttrs& a, Definition& def) {
        MoveCells(def, [&](Expr& y, Expr& x) {
          y = y + a.y;
          x = x + a.x;
        });
      })
      .Gradient([](const ImageCropAttrs&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
