// SPDX-License-Identifier: Apache-2.0
// States the attributes of _contrib_MultiBoxTarget.
#pragma once

#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// Of _contrib_MultiBoxTarget, and of _multi_box_match and _multi_box_assign,
// which it consists of.
struct MultiBoxTargetAttrs {
  double overlap_threshold = 0.5;
  double ignore_label = -1;
  double negative_mining_ratio = -1;
  double negative_mining_thresh = 0.5;
  int64_t minimum_negative_samples = 0;
  std::vector<double> variances = {0.1, 0.1, 0.2, 0.2};

  void Describe(Fields& f) {
    f("overlap_threshold", overlap_threshold)
        .Doc("overlap that makes an anchor an object's");
    f("ignore_label", ignore_label).Doc("class of anchors that do not count");
    f("negative_mining_ratio", negative_mining_ratio)
        .Doc("anchors of no object to one of an object; not positive: all");
    f("negative_mining_thresh", negative_mining_thresh)
        .Doc("anchors that overlap as much are not taken for no object's");
    f("minimum_negative_samples", minimum_negative_samples).Doc("not used");
    f("variances", variances).Doc("units of loc_target");
  }

  bool mines() const { return negative_mining_ratio > 0; }
};
MXC_ATTRS(MultiBoxAssign, MultiBoxTargetAttrs);
MXC_ATTRS(MultiBoxMatch, MultiBoxTargetAttrs);

// What _multi_box_match says of an anchor that is no object's.
inline constexpr int64_t kIgnoredAnchor = -1, kNegativeAnchor = -2;

}  // namespace mxc
