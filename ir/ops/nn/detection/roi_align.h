// SPDX-License-Identifier: Apache-2.0
// Regions whose parts are read at points between cells: their averages
// (_contrib_ROIAlign), and their greatest numbers (_roi_max_align).
#pragma once

#include "ir/ops/nn/detection/roi.h"

namespace mxc {

struct RoiAlignAttrs {
  Extents pooled_size;
  double spatial_scale = 1;
  int64_t sample_ratio = -1;
  bool position_sensitive = false;
  bool aligned = false;

  void Describe(Fields& f) {
    f("pooled_size", pooled_size).Required().Doc("(h, w)");
    DescribeSpatialScale(f, spatial_scale);
    f("sample_ratio", sample_ratio)
        .Range(-1048576, 1023)
        .Doc("points along a side of a part");
    f("position_sensitive", position_sensitive)
        .Doc("whether each part reads channels of its own");
    f("aligned", aligned).Doc("whether regions shift by half a cell");
  }
};
MXC_ATTRS(ROIAlign, RoiAlignAttrs);
MXC_ATTRS(ROIMaxAlign, RoiAlignAttrs);

std::optional<std::string> RoiAlignCheck(const RoiAlignAttrs& a);
void RoiAlignTypes(const RoiAlignAttrs& a, TypeInference& t);

// How output element i stands in its region.
class RoiAlignPoints {
 public:
  RoiAlignPoints(const RoiAlignAttrs& a, const Definition& def);

  const Expr& rows() const { return sides_[0].points; }  // of points, i64
  const Expr& columns() const { return sides_[1].points; }
  Point At(const std::vector<Expr>& r) const;

 private:
  // One side of the region.
  struct Side {
    Expr start, part;  // of the region; length of a part
    Expr points;       // i64
  };
  static Side SideOf(const RoiAlignAttrs& a, const Definition& def, Expr roi,
                     int d);
  Expr Along(int d, const Expr& point) const;

  const DType dtype_;
  const Side sides_[2];
};

}  // namespace mxc
