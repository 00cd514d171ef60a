// SPDX-License-Identifier: Apache-2.0
// _roi_pooling_gradient: the gradient of ROIPooling's data.
//   head      f[R, C, h, w]   of ROIPooling's output
//   rois      f[R, 5]         ROIPooling's
//   maxidx    f[R, C, h, w]   ROIPooling's: which cells hold the maxima
//   gradient  f[N, C, H, W], of shape data_shape: the sum of the heads of the
//             parts whose maximum a cell holds
#include "ir/ops/nn/detection/roi_pooling_gradient.h"
#include "ir/ops/nn/detection/roi.h"

namespace mxc {
namespace {

void RoiPoolingGradientTypes(const RoiPoolingGradientAttrs& a,
                             TypeInference& t) {
  t.SetOut(0, Shape(a.data_shape));
  t.SetOutDType(0, t.InDType(0));
}

void RoiPoolingGradientMeaning(const RoiPoolingGradientAttrs&,
                               Definition& def) {
  const Shape &head = def.InShape(0), &data = def.OutShape();
  const std::vector<Expr> i = def.Indices();
  const Expr cell = i[2] * data[3] + i[3];
  const auto term = [&](const std::vector<Expr>& r) {
    const std::vector<Expr> at = {r[0], i[1], r[1], r[2]};
    const Expr image = Cast(def.In(1, {r[0], 0}), DType::kI64);
    const Expr holds = Max(Min(image, data[0] - 1), 0) == i[0] &&
                       Cast(def.In(2, at), DType::kI64) == cell;
    return Select(holds, def.In(0, at), def.Lit(0));
  };
  def.Set(0, Definition::Sum({head[0], head[2], head[3]}, term));
}

}  // namespace

MXC_OP(ROIPoolingGradient) {
  return Op<RoiPoolingGradientAttrs>("_roi_pooling_gradient")
      .Internal()
      .Doc("the gradient of ROIPooling")
      .Inputs({{"head"}, {"rois"}, {"maxidx"}})
      .Outputs({"gradient"})
      .Types(RoiPoolingGradientTypes)
      .Meaning(RoiPoolingGradientMeaning);
}

}  // namespace mxc
