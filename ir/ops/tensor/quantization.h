// SPDX-License-Identifier: Apache-2.0
// Floats as 8-bit integers with a range. L levels stand for the range:
//   int8   q = x · L/M, M the greater magnitude of the range
//   uint8  q = (x − min) · L/(max − min)
// to the nearest integer, halves to the even one, limited to the type: int8
// from −128 on. NaN is 127 in int8 and 0 in uint8.
#pragma once

#include <string_view>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

enum class QuantizedType : int { kAuto, kInt8, kUint8 };
inline const std::vector<std::string_view> kQuantizedTypes = {"auto", "int8",
                                                              "uint8"};

// For the range that was calibrated, or else that of the data.
struct QuantizedAttrs {
  QuantizedType out_type = QuantizedType::kInt8;
  std::optional<double> min_calib_range, max_calib_range;

  void Describe(Fields& f) {
    f("out_type", out_type)
        .OneOf(kQuantizedTypes)
        .Doc("type of the output; auto: uint8 for a range without negatives");
    f("min_calib_range", min_calib_range).Doc("least value; None: of the data");
    f("max_calib_range", max_calib_range).Doc("greatest; None: of the data");
  }

  bool calibrated() const { return min_calib_range && max_calib_range; }
  bool is_int8() const {
    if (out_type != QuantizedType::kAuto) {
      return out_type == QuantizedType::kInt8;
    }
    return !calibrated() || *min_calib_range < 0;
  }
};

// quantize divides the range by what the types hold, quantize_v2 and dequantize
// by half a level more (read from MXNet 1.9.1's values).
struct Levels {
  double int8, uint8;
};
inline constexpr Levels kPlainLevels = {127, 255};
inline constexpr Levels kWideLevels = {127.5, 255.5};

// The range of an int8 tensor reaches as far down as up.
Expr GreaterMagnitude(const Expr& low, const Expr& high);

// x, a float, quantized; the result is a float without fraction.
Expr QuantizeInt8(const Expr& x, const Expr& low, const Expr& high,
                  const Levels& levels);
Expr QuantizeUint8(const Expr& x, const Expr& low, const Expr& high,
                   const Levels& levels);

}  // namespace mxc
