// SPDX-License-Identifier: Apache-2.0
// _image_resize: pictures in another size, as OpenCV has it.
//   data t[(N,) H, W, C] → t[(N,) h, w, C]
// size is (w, h), or one number: both, or the shorter edge with keep_ratio.
// interp 0 takes the cell at o · H / h, rounded down; 1 interpolates at (o + ½) ·
// H / h − ½ between cells, the border's going on. Integers are rounded to the
// nearest.
// C1  data has rank 3 or 4
// C2  size has one or two entries
// C3  interp is 0 or 1
// Source: MXNet 1.9.1 operator/image/resize-inl.h.
#include <algorithm>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/bilinear.h"
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/image/image.h"

namespace mxc {
namespace {

struct ImageResizeAttrs {
  Extents size;
  bool keep_ratio = false;
  int64_t interp = 1;

  void Describe(Fields& f) {
    f("size", size).Required().Range(1, 65536).Doc("(width, height), or both");
    f("keep_ratio", keep_ratio).Doc("one number is the shorter edge");
    f("interp", interp).Doc("0: nearest; 1: bilinear");
  }
};

std::optional<std::string> CheckImageResize(const ImageResizeAttrs& a) {
  if (a.size.empty() || a.size.size() > 2) {
    return fmt::format("C2: size has {} entries, expected (width, height)",
                       a.size.size());
  }
  if (a.interp != 0 && a.interp != 1) {
    return fmt::format("C3: interp is {}, expected 0 (nearest) or 1 (bilinear)",
                       a.interp);
  }
  return std::nullopt;
}

void ImageResizeTypes(const ImageResizeAttrs& a, TypeInference& t) {
  int64_t columns = a.size.front(), rows = a.size.back();
  if (a.size.size() == 1 && a.keep_ratio) {
    if (!RequireImage(t) || !t.In(0).known()) return;
    const int rank = t.In(0).rank();
    const int64_t height = t.In(0)[rank - 3], width = t.In(0)[rank - 2];
    (height > width ? rows : columns) =
        std::max(height, width) * a.size[0] / std::min(height, width);
  }
  ImageTypes(t, rows, columns);
}

// The place of data that position `o` along an axis reads.
Expr ResizedFrom(const Expr& o, int64_t in, int64_t out, DType dtype) {
  const auto number = [&](double x) { return Constant(x, dtype); };
  const double cells = static_cast<double>(in) / static_cast<double>(out);
  const Expr middle = Cast(o, dtype) + number(0.5);
  return Max(middle * number(cells) - number(0.5), number(0));
}

void ImageResizeMeaning(const ImageResizeAttrs& a, Definition& def) {
  const int rank = def.OutShape().rank();
  const int64_t in_rows = def.InShape(0)[rank - 3],
                in_columns = def.InShape(0)[rank - 2];
  const int64_t rows = def.OutShape()[rank - 3],
                columns = def.OutShape()[rank - 2];
  if (a.interp == 0) {
    return MoveCells(def, [&](Expr& y, Expr& x) {
      y = y * in_rows / rows;
      x = x * in_columns / columns;
    });
  }
  const DType computed = FloatTypeOf(def.InDType(0));
  const std::vector<Expr> i = def.Indices();
  const Expr value = BilinearWithBorder(
      ResizedFrom(i[rank - 3], in_rows, rows, computed),
      ResizedFrom(i[rank - 2], in_columns, columns, computed), in_rows,
      in_columns, [&](Expr y, Expr x) {
        std::vector<Expr> cell = i;
        cell[rank - 3] = y;
        cell[rank - 2] = x;
        return Cast(def.In(0, cell), computed);
      });
  const bool rounds = !IsFloat(def.OutDType());
  def.Set(0, rounds ? Unary(UnaryOp::kRound, value) : value);
}

}  // namespace

MXC_OP(ImageResize) {
  return Op<ImageResizeAttrs>("_image_resize")
      .Alias({"_npx__image_resize"})
      .Doc("pictures in another size")
      .Check(CheckImageResize)
      .Types(ImageResizeTypes)
      .Meaning(ImageResizeMeaning)
      .Gradient([](const ImageResizeAttrs&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
