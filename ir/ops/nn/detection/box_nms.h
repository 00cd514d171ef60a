// SPDX-License-Identifier: Apache-2.0
// States the attributes of _contrib_box_nms.
#pragma once

#include "ir/ops/nn/detection/box.h"
#include "ir/ops/op.h"

namespace mxc {

// Of _contrib_box_nms, and of _box_nms_sorted, which it consists of.
struct BoxNmsAttrs {
  static constexpr double kMaxColumn = 1 << 20;

  double overlap_thresh = 0.5;
  double valid_thresh = 0;
  int64_t topk = -1;
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = -1;
  int64_t background_id = -1;
  bool force_suppress = false;
  BoxFormat in_format = BoxFormat::kCorner;
  BoxFormat out_format = BoxFormat::kCorner;

  void Describe(Fields& f) {
    f("overlap_thresh", overlap_thresh).Doc("overlap that drops a box");
    f("valid_thresh", valid_thresh).Doc("scores up to it drop their box");
    f("topk", topk).Doc("boxes that are looked at; −1 is all");
    f("coord_start", coord_start)
        .Range(0, kMaxColumn)
        .Doc("column of the coordinates");
    f("score_index", score_index)
        .Range(0, kMaxColumn)
        .Doc("column of the score");
    f("id_index", id_index)
        .Range(-1, kMaxColumn)
        .Doc("column of the class; −1 is none");
    f("background_id", background_id)
        .Doc("class that is dropped, where id_index says what boxes are");
    f("force_suppress", force_suppress)
        .Doc("whether boxes of other classes drop one");
    f("in_format", in_format).OneOf({"corner", "center"});
    f("out_format", out_format).OneOf({"corner", "center"});
  }
};
MXC_ATTRS(BoxNms, BoxNmsAttrs);
MXC_ATTRS(BoxNmsSorted, BoxNmsAttrs);

// The two outputs: shaped as data, and with one column only.
void SetBoxNmsShapes(const BoxNmsAttrs& attrs, TypeInference& t);

}  // namespace mxc
