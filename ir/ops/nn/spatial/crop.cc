// SPDX-License-Identifier: Apache-2.0
// Crop: a window of an image. (The operator `crop` is an alias of slice.)
//   data       f[N, C, H, W]
//   crop_like  f[…, …, h, w]    with num_args 2; only its size matters
//   output     f[N, C, h, w]    h_w gives the size without crop_like
// The window begins at offset (y, x), or at ⌊(H − h) / 2⌋, ⌊(W − w) / 2⌋ with
// center_crop.
// C1  num_args is 1 or 2, and the inputs have 4 axes
// C2  offset and h_w have 2 entries; h_w is positive where it gives the size
// C3  the window lies in the image
// Source: MXNet 1.9.1 operator/crop-inl.h.
#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct CropAttrs {
  int64_t num_args = 1;
  Extents offset = {0, 0};
  Extents h_w = {0, 0};
  bool center_crop = false;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Doc("1, or 2 with crop_like");
    f("offset", offset).Min(0).Doc("upper left corner, (y, x)");
    f("h_w", h_w).Min(0).Doc("size without crop_like");
    f("center_crop", center_crop).Doc("whether the window is in the middle");
  }
};

std::optional<std::string> CropCheck(const CropAttrs& a) {
  if (a.num_args != 1 && a.num_args != 2) {
    return fmt::format("C1: num_args is {}, expected 1 or 2", a.num_args);
  }
  if (a.offset.size() != 2 || a.h_w.size() != 2) {
    return fmt::format("C2: offset {} and h_w {} must have 2 entries",
                       ToString(a.offset), ToString(a.h_w));
  }
  if (a.num_args == 1 && (a.h_w[0] == 0 || a.h_w[1] == 0)) {
    return fmt::format("C2: h_w is {}, expected positive entries",
                       ToString(a.h_w));
  }
  return std::nullopt;
}

std::vector<InputSpec> CropInputs(const CropAttrs& a) {
  if (a.num_args == 1) return {{"data"}};
  return {{"data"}, {"crop_like"}};
}

int64_t CropStart(const CropAttrs& a, int d, int64_t in, int64_t out) {
  return a.center_crop ? (in - out) / 2 : a.offset[d];
}

void CropTypes(const CropAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  if (!RequireImages(t)) return;
  const Shape& data = t.In(0);
  Shape output = data;
  for (int d = 0; d < 2; ++d) {
    output[2 + d] = a.num_args == 2 ? t.In(1)[2 + d] : a.h_w[d];
    if (!output.known(2 + d) || !data.known(2 + d)) continue;
    const int64_t start = CropStart(a, d, data[2 + d], output[2 + d]);
    if (!t.Require(output[2 + d] <= data[2 + d] &&
                       start <= data[2 + d] - output[2 + d],
                   "C3: {} cells from {} do not lie in the image's {}",
                   output[2 + d], start, data[2 + d])) {
      return;
    }
  }
  t.SetOut(0, output);
}

void CropMeaning(const CropAttrs& a, Definition& def) {
  std::vector<Expr> i = def.Indices();
  for (int d = 0; d < 2; ++d) {
    i[2 + d] = i[2 + d] +
               CropStart(a, d, def.InShape(0)[2 + d], def.OutShape()[2 + d]);
  }
  def.Set(0, def.In(0, i));
}

}  // namespace

MXC_OP(Crop) {
  return Op<CropAttrs>("Crop")
      .Doc("a window of an image")
      .InputsOf(CropInputs)
      .Variadic()
      .Check(CropCheck)
      .Types(CropTypes)
      .Meaning(CropMeaning)
      .Gradient([](const auto&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
