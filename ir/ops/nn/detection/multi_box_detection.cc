// SPDX-License-Identifier: Apache-2.0
// _contrib_MultiBoxDetection: boxes from class scores and differences to
// anchors.
//   cls_prob  f[N, classes, A]   class 0 is no object
//   loc_pred  f[N, 4·A]
//   anchor    f[1, A, 4]
//   output    f[N, A, 6]         class − 1, score, x1, y1, x2, y2; class −1 for
//                                none
// A box has the class of the highest score (_multi_box_decode, _multi_box_nms).
// C1  the inputs have the shapes above
// C2  variances has 4 entries
// C3  there are fewer than 2^31 anchors
// Source: MXNet 1.9.1 operator/contrib/multibox_detection.cc.
#include "ir/ops/nn/detection/multi_box_detection.h"

#include "ir/ops/tensor/reduction/extremum.h"
#include "ir/ops/tensor/reduction/reduction.h"
#include "ir/ops/tensor/sort/argsort.h"

namespace mxc {
namespace {

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
                 ToString(scores)) ||
      !t.Require(scores[2] < int64_t{1} << 31, "C3: there are {} anchors",
                 scores[2])) {
    return;
  }
  const auto numbers = CheckedProduct({4, scores[2]});
  t.SetIn(1, {scores[0], numbers.value_or(Shape::kUnknownDim)});
  t.SetIn(2, {1, scores[2], 4});
  t.SetOut(0, {scores[0], scores[2], 6});
}

std::vector<Value> MultiBoxDetectionParts(const MultiBoxDetectionAttrs& attrs,
                                          const Node& node, GraphBuilder& b) {
  const Shape& shape = node.inputs[0].shape();
  if (shape[1] == 1) return {b.Sub(b.Zeros(node.types[0]), 1)};
  const Value objects = b.SliceAxis(node.inputs[0], 1, 1, shape[1], "objects");
  const Value classes = b.Op<op::Argmax>({objects}, {.axis = 1}, "classes");
  const Value scores = b.Op<op::Max>({objects}, {.axis = Extents{1}}, "scores");
  const Value order = b.Op<op::Argsort>(
      {scores}, {.axis = 1, .is_ascend = false, .dtype = DType::kI32}, "order");
  const Value boxes = b.Op<op::MultiBoxDecode>({node.inputs[1], node.inputs[2]},
                                               attrs, "boxes");
  return {b.Op<op::MultiBoxNms>({classes, scores, boxes, order}, attrs)};
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
      .Decompose(MultiBoxDetectionParts)
      .ZeroGradient();
}

}  // namespace mxc
