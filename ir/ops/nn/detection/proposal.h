// SPDX-License-Identifier: Apache-2.0
// States the attributes of _contrib_Proposal.
#pragma once

#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// Of _contrib_Proposal and _contrib_MultiProposal, and of _proposal_boxes and
// _proposal_nms, which they consist of.
struct ProposalAttrs {
  int64_t rpn_pre_nms_top_n = 6000, rpn_post_nms_top_n = 300;
  double threshold = 0.7;
  int64_t rpn_min_size = 16;
  std::vector<double> scales = {4, 8, 16, 32}, ratios = {0.5, 1, 2};
  int64_t feature_stride = 16;
  bool output_score = false;
  bool iou_loss = false;

  void Describe(Fields& f) {
    f("rpn_pre_nms_top_n", rpn_pre_nms_top_n)
        .Doc("boxes of the highest scores that are looked at; 0: all");
    f("rpn_post_nms_top_n", rpn_post_nms_top_n)
        .Range(1, 1 << 20)
        .Doc("boxes of the output");
    f("threshold", threshold).Doc("overlap that drops a box");
    f("rpn_min_size", rpn_min_size).Doc("least side of a box, in the image");
    f("scales", scales).Doc("of anchors");
    f("ratios", ratios).Doc("height to width of anchors");
    f("feature_stride", feature_stride)
        .Range(1, 1 << 20)
        .Doc("pixels of a cell");
    f("output_score", output_score).Doc("whether the scores are an output");
    f("iou_loss", iou_loss).Doc("whether bbox_pred moves corners");
  }

  int64_t anchors() const {
    return static_cast<int64_t>(scales.size() * ratios.size());
  }
};
MXC_ATTRS(ProposalBoxes, ProposalAttrs);
MXC_ATTRS(ProposalNms, ProposalAttrs);

}  // namespace mxc
