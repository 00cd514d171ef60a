// SPDX-License-Identifier: Apache-2.0
// What sums and products of 8-bit numbers share.
//   lhs, rhs q[…], and lhs_min, lhs_max, rhs_min, rhs_max f32[1]
//   outputs  y[…], min f32[1], max f32[1]
// Where a range is calibrated y is of 8 bits, else i32.
// C1  lhs and rhs are i8 or u8
#pragma once

#include "ir/ops/quantized/quantization.h"

namespace mxc {

struct CalibratedAttrs {
  std::optional<double> min_calib_range, max_calib_range;

  void Describe(Fields& f) {
    f("min_calib_range", min_calib_range).Doc("least value of the output");
    f("max_calib_range", max_calib_range).Doc("greatest value of the output");
  }
  bool calibrated() const { return min_calib_range && max_calib_range; }
};

inline std::vector<InputSpec> QuantizedPairInputs() {
  return {{"lhs", InputKind::kData},     {"rhs", InputKind::kData},
          {"lhs_min", InputKind::kData}, {"lhs_max", InputKind::kData},
          {"rhs_min", InputKind::kData}, {"rhs_max", InputKind::kData}};
}

// The shapes, and the types of ranges. Whether both types are known.
inline bool QuantizedPairTypes(TypeInference& t) {
  t.SetIn(1, t.In(0));
  t.SetIn(0, t.In(1));
  t.SetOut(0, t.In(0));
  SetRangeTypes(t, 2, 1);
  return RequireQuantized(t, 0) && RequireQuantized(t, 1);
}

}  // namespace mxc
