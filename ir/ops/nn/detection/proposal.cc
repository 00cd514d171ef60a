// SPDX-License-Identifier: Apache-2.0
// _contrib_Proposal, _contrib_MultiProposal: the regions of an image (of a batch
// of images) that may hold an object, by score, without those that overlap.
//   cls_prob   f[N, 2·A, H, W]   A chances of no object, then A of an object
//   bbox_pred  f[N, 4·A, H, W]   differences to anchors
//   im_info    f[N, 3]           height, width, scale of the image
//   output     f[N·P, 5]         image, x1, y1, x2, y2; P rpn_post_nms_top_n
//   score      f[N·P, 1]         visible with output_score
// There is an anchor in each cell for each ratio and scale, as in Faster R-CNN;
// _proposal_boxes moves and clips them.
// What stays: _proposal_nms.
// C1  the inputs have the shapes above; Proposal takes one image
// C2  there are 1 to 4096 anchors in a cell, their sizes positive
// C3  there are fewer than 2^31 boxes
// Source: MXNet 1.9.1 operator/contrib/proposal.cc, multi_proposal.cc.
#include "ir/ops/nn/detection/proposal.h"

#include <algorithm>
#include <cmath>

#include "ir/ops/tensor/sort/argsort.h"

namespace mxc {
namespace {

std::optional<std::string> ProposalCheck(const ProposalAttrs& a) {
  constexpr size_t kMost = 64;
  const auto legal = [](const std::vector<double>& sizes) {
    return !sizes.empty() && sizes.size() <= kMost &&
           std::ranges::all_of(sizes, [](double x) { return x > 0; });
  };
  if (legal(a.scales) && legal(a.ratios)) return std::nullopt;
  return "C2: scales and ratios must be 1 to 64 positive numbers each";
}

void ProposalTypes(const ProposalAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const Shape& scores = t.In(0);
  if (!scores.known()) return;
  if (!t.Require(scores.rank() == 4 && scores[1] == 2 * a.anchors(),
                 "C1: cls_prob has shape {}, expected (N, {}, H, W)",
                 ToString(scores), 2 * a.anchors())) {
    return;
  }
  const int64_t images = scores[0];
  const auto boxes =
      CheckedProduct({images, 5 * a.anchors(), scores[2], scores[3]});
  const auto rows = CheckedProduct({images, a.rpn_post_nms_top_n, 5});
  constexpr int64_t kTooMany = int64_t{1} << 31;
  if (!t.Require(boxes && *boxes < kTooMany && rows && *rows < kTooMany,
                 "C3: cls_prob has shape {}: too many boxes",
                 ToString(scores))) {
    return;
  }
  t.SetIn(1, {images, 4 * a.anchors(), scores[2], scores[3]});
  t.SetIn(2, {images, 3});
  t.SetOut(0, {images * a.rpn_post_nms_top_n, 5});
  t.SetOut(1, {images * a.rpn_post_nms_top_n, 1});
}

void ProposalOfOneTypes(const ProposalAttrs& a, TypeInference& t) {
  const Shape& scores = t.In(0);
  if (scores.known_rank() && scores.rank() > 0 && scores.known(0) &&
      !t.Require(scores[0] == 1, "C1: cls_prob has {} images, expected 1",
                 scores[0])) {
    return;
  }
  ProposalTypes(a, t);
}

// f32[A, 4], of the first cell: of each ratio all scales.
Tensor Anchors(const ProposalAttrs& a) {
  const auto side = static_cast<float>(a.feature_stride);
  const float centre = 0.5f * (side - 1);
  std::vector<float> corners;
  for (const double ratio : a.ratios) {
    for (const double scale : a.scales) {
      const auto r = static_cast<float>(ratio), s = static_cast<float>(scale);
      const float area = std::floor(side * side / r);
      const float width = std::floor(std::sqrt(area) + 0.5f) * s;
      const float height = std::floor(width / s * r + 0.5f) * s;
      const float x = 0.5f * (width - 1), y = 0.5f * (height - 1);
      corners.insert(corners.end(),
                     {centre - x, centre - y, centre + x, centre + y});
    }
  }
  return Tensor::FromFloats({a.anchors(), 4}, corners);
}

std::vector<Value> ProposalParts(const ProposalAttrs& attrs, const Node& node,
                                 GraphBuilder& b) {
  std::vector<Value> inputs = node.inputs;
  inputs.push_back(b.Constant(Anchors(attrs), "anchors"));
  const Value boxes = b.Op<op::ProposalBoxes>(inputs, attrs, "boxes");
  const Shape& shape = boxes.shape();
  const Value scores =
      b.Reshape(b.SliceAxis(boxes, 2, 4, 5, "scores"), {shape[0], shape[1]});
  const Value order = b.Op<op::Argsort>(
      {scores}, {.axis = 1, .is_ascend = false, .dtype = DType::kI32}, "order");
  return b.Ops<op::ProposalNms>({boxes, order}, attrs);
}

Op<ProposalAttrs> ProposalOf(const char* name, const char* doc) {
  return Op<ProposalAttrs>(name)
      .Doc(doc)
      .Inputs({{"cls_prob"}, {"bbox_pred"}, {"im_info"}})
      .Outputs({"output", "score"})
      .VisibleOutputsOf(
          [](const ProposalAttrs& a) { return a.output_score ? 2 : 1; })
      .Check(ProposalCheck)
      .Decompose(ProposalParts)
      .ZeroGradient();
}

}  // namespace

MXC_OP(Proposal) {
  return ProposalOf("_contrib_Proposal",
                    "regions of an image that may hold an object")
      .Types(ProposalOfOneTypes)
      .FloatsOnly();
}

MXC_OP(MultiProposal) {
  return ProposalOf("_contrib_MultiProposal",
                    "regions of each image that may hold an object")
      .Types(ProposalTypes)
      .FloatsOnly();
}

}  // namespace mxc
