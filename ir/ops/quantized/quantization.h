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

// Of a tensor of that type: i8, u8, or i32 with all its levels.
double LevelsOf(DType dtype, const Levels& levels);

// The range of an int8 tensor reaches as far down as up.
Expr GreaterMagnitude(const Expr& low, const Expr& high);

// x, a float, rounded to the nearest whole number, halves to the even one, and
// limited to what i8, u8 or i32 holds (i32: to what f32 holds of it).
Expr RoundToLevels(const Expr& x, DType dtype);

// x, a float, quantized; the result is a float without fraction.
Expr QuantizeInt8(const Expr& x, const Expr& low, const Expr& high,
                  const Levels& levels);
Expr QuantizeUint8(const Expr& x, const Expr& low, const Expr& high,
                   const Levels& levels);

// What one level of 8-bit input `input` stands for, where the range is that of
// inputs `low` and `low` + 1.
Expr LevelOf(const Definition& def, int input, int low, const Levels& levels);

// C1  the input is of 8-bit integers
// False while its type is not known, too.
bool RequireQuantized(TypeInference& t, int input);
// Of a layer of integers: data are i8 or u8 (C1), weights i8, a bias and the
// output i32.
void SetIntegerTypes(TypeInference& t);
// The first `inputs` inputs and output 0 have the shapes that `op`, with `attrs`,
// has of floats.
void ShapesOf(std::string_view op, const void* attrs, int inputs,
              TypeInference& t);
// The ends of ranges, f32[1]: all inputs from `input` on, all outputs from
// `output` on.
void SetRangeTypes(TypeInference& t, int input, int output);

// An operator of 8-bit numbers that are still the levels of the same range:
// data q[…], min_data, max_data → output, min_output, max_output.
std::vector<InputSpec> RangedInputs();
inline const std::vector<std::string> kRangedOutputs = {"output", "min_output",
                                                        "max_output"};
// The output's parts, beside its range.
std::vector<Value> WithRangeOf(const Node& node, Value output);

}  // namespace mxc
