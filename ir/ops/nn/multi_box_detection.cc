// SPDX-License-Identifier: Apache-2.0
// _contrib_MultiBoxDetection: boxes from class scores and differences to
// anchors. Only recognised: it needs loops whose length depends on values.
//   cls_prob  f[N, classes, A]
//   loc_pred  f[N, 4·A]
//   anchor    f[1, A, 4]
//   output    f[N, A, 6]   class, score, x1, y1, x2, y2; class −1 for none
// C1  the inputs have the shapes above
// C2  variances has 4 entries
// Source: MXNet 1.9.1 operator/contrib/multibox_detection.cc.
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct MultiBoxDetectionAttrs {
  bool clip = true;
  double threshold = 0.01;
  int64_t background_id = 0;
  double nms_threshold = 0.5;
  bool force_suppress = false;
  std::vector<double> variances = {0.1, 0.1, 0.2, 0.2};
  int64_t nms_topk = -1;

  void Describe(Fields& f) {
    f("clip", clip).Doc("whether boxes end at the image's border");
    f("threshold", threshold).Doc("smallest score of a box");
    f("background_id", background_id).Doc("the class of no object");
    f("nms_threshold", nms_threshold).Doc("overlap that drops a box");
    f("force_suppress", force_suppress)
        .Doc("whether boxes of other classes drop one");
    f("variances", variances).Doc("units of loc_pred");
    f("nms_topk", nms_topk).Doc("boxes that are looked at; −1 is all");
  }
};

std::optional<std::string> MultiBoxDetectionCheck(
    const MultiBoxDetectionAttrs& a) {
  if (a.variances.size() == 4) return std::nullopt;
  return "C2: variances must have 4 entries";
}

void MultiBoxDetectionTypes(const MultiBoxDetectionAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& scores = t.In(0);
  if (!scores.known()) return;
  if (!t.Require(scores.rank() == 3,
                 "C1: cls_prob has shape {}, expected (N, classes, A)",
                 ToString(scores))) {
    return;
  }
  const auto numbers = CheckedProduct({4, scores[2]});
  t.SetIn(1, {scores[0], numbers.value_or(Shape::kUnknownDim)});
  t.SetIn(2, {1, scores[2], 4});
  t.SetOut(0, {scores[0], scores[2], 6});
}

}  // namespace

MXC_OP(MultiBoxDetection) {
  return Op<MultiBoxDetectionAttrs>("_contrib_MultiBoxDetection")
      .Doc("boxes from class scores and differences to anchors")
      .Alias({"MultiBoxDetection", "_npx_multibox_detection"})
      .Inputs({{"cls_prob"}, {"loc_pred"}, {"anchor"}})
      .Check(MultiBoxDetectionCheck)
      .Types(MultiBoxDetectionTypes)
      .FloatsOnly()
      .ZeroGradient();
}

}  // namespace mxc
