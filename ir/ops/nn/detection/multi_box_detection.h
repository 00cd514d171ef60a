// SPDX-License-Identifier: Apache-2.0
// States the attributes of _contrib_MultiBoxDetection.
#pragma once

#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// Of _contrib_MultiBoxDetection, and of _multi_box_decode and _multi_box_nms,
// which it consists of.
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
    f("background_id", background_id).Doc("not used: class 0 is no object");
    f("nms_threshold", nms_threshold)
        .Doc("overlap that drops a box; outside of 0 to 1 none does");
    f("force_suppress", force_suppress)
        .Doc("whether boxes of other classes drop one");
    f("variances", variances).Doc("units of loc_pred");
    f("nms_topk", nms_topk).Doc("boxes that may drop others; −1 is all");
  }
};
MXC_ATTRS(MultiBoxDecode, MultiBoxDetectionAttrs);
MXC_ATTRS(MultiBoxNms, MultiBoxDetectionAttrs);

}  // namespace mxc
