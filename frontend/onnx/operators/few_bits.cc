// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators/few_bits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/onnx/tensor_data.h"
#include "ir/ops/numpy/elementwise/npi_around.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {
namespace {

// A float of 8 bits or fewer. Source: onnx.ai/onnx/technical/float8.html.
struct SmallFloat {
  int32_t data_type;
  int mantissa;        // bits
  int least_exponent;  // of normal numbers
  double greatest;
  // What stands beyond the greatest one without saturation; NaN: NaN.
  double beyond;
  bool negative_zero;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr SmallFloat kSmallFloats[] = {
    {TensorProto::kFloat8e4m3fn, 3, -6, 448, kNoNumber, true},
    {TensorProto::kFloat8e4m3fnuz, 3, -7, 240, kNoNumber, false},
    {TensorProto::kFloat8e5m2, 2, -14, 57344, kInfinity, true},
    {TensorProto::kFloat8e5m2fnuz, 2, -15, 57344, kNoNumber, false},
    {TensorProto::kFloat4e2m1, 1, 0, 6, 6, true},
};

const SmallFloat* SmallFloatOf(int32_t data_type) {
  const auto found =
      std::ranges::find(kSmallFloats, data_type, &SmallFloat::data_type);
  return found == std::end(kSmallFloats) ? nullptr : found;
}

}  // namespace

Value RoundToEven(Call& c, Value x) {
  return c.Op<op::NpiAround>({x}, {.decimals = 0});
}

Value Limited(Call& c, Value x, double least, double greatest) {
  return c.Op<op::Clip>({x}, {.a_min = least, .a_max = greatest});
}

std::optional<IntegerRange> IntegerRangeOf(int32_t data_type) {
  switch (data_type) {
    case TensorProto::kUint2:
      return IntegerRange{0, 3, 2};
    case TensorProto::kInt2:
      return IntegerRange{-2, 1, 2};
    case TensorProto::kUint4:
      return IntegerRange{0, 15, 4};
    case TensorProto::kInt4:
      return IntegerRange{-8, 7, 4};
    case TensorProto::kUint8:
      return IntegerRange{0, 255, 8};
    case TensorProto::kInt8:
      return IntegerRange{-128, 127, 8};
    case TensorProto::kUint16:
      return IntegerRange{0, 65535, 16};
    case TensorProto::kInt16:
      return IntegerRange{-32768, 32767, 16};
    default:
      return std::nullopt;
  }
}

bool IsSmallFloat(int32_t data_type) {
  return SmallFloatOf(data_type) != nullptr;
}

// The distance of neighbours, by the exponent of |x|: a table, whose powers of
// two are exact. Where the logarithm of a number next to a power of two is
// rounded to the other side of it, both distances round to that power.
Value RoundedToSmallFloat(Call& c, Value x, int32_t data_type, bool saturate) {
  const SmallFloat& f = *SmallFloatOf(data_type);
  const int last = static_cast<int>(std::log2(f.greatest)) + 1;
  std::vector<float> steps;
  for (int e = f.least_exponent; e <= last; ++e) {
    steps.push_back(std::ldexp(1.0F, e - f.mantissa));
  }
  const auto count = static_cast<int64_t>(steps.size());
  const Value table =
      c.Constant(Tensor::FromFloats(Shape{count}, steps), "steps");
  Value exponent = c.Op<op::Floor>({c.Op<op::Log2>({c.Abs(x)})});
  exponent = Limited(c, c.Sub(exponent, f.least_exponent), 0,
                     static_cast<double>(count - 1));
  const Value step = c.Op<op::Take>({table, c.Cast(exponent, DType::kI32)},
                                    {.axis = 0, .mode = IndexMode::kClip});
  // Infinity over any step is itself.
  Value y = c.Mul(RoundToEven(c, c.Div(x, step)), step);
  if (!f.negative_zero) y = c.Add(y, 0.0);
  const auto scalar = [&](double value) { return c.ScalarLike(value, y); };
  if (f.beyond == f.greatest) {
    // Where nothing stands for NaN, the reference has the zero below.
    y = c.Op<op::NpiWhere>({c.Op<op::NpiIsnan>({y}), scalar(-0.0),
                            Limited(c, y, -f.greatest, f.greatest)});
  } else if (saturate) {
    y = Limited(c, y, -f.greatest, f.greatest);
  } else {
    const Value over =
        c.Op<op::NpiGreaterScalar>({c.Abs(y)}, {.scalar = f.greatest});
    const Value beyond =
        std::isnan(f.beyond) ? scalar(f.beyond) : c.Mul(c.Sign(y), f.beyond);
    y = c.Op<op::NpiWhere>({over, beyond, y});
  }
  return y;
}

namespace {

enum class PowerRounding { kUp, kDown, kNearest };

// The power of two below x, or x itself. The logarithm of a number next to a
// power of two may be rounded to the other side of it.
Value PowerBelow(Call& c, Value x) {
  constexpr int kLeast = -127, kGreatest = 127;
  std::vector<float> powers;
  for (int e = kLeast; e <= kGreatest; ++e) {
    powers.push_back(std::ldexp(1.0F, e));
  }
  const Value table = c.Constant(
      Tensor::FromFloats(Shape{std::ssize(powers)}, powers), "powers");
  const Value exponent =
      Limited(c, c.Op<op::Floor>({c.Op<op::Log2>({x})}), kLeast, kGreatest);
  const Value low =
      c.Op<op::Take>({table, c.Cast(c.Sub(exponent, kLeast), DType::kI32)},
                     {.axis = 0, .mode = IndexMode::kClip});
  const Value half = c.Mul(low, 0.5), twice = c.Mul(low, 2.0);
  const Value below =
      c.Op<op::NpiWhere>({c.Op<op::NpiGreater>({low, x}), half, low});
  return c.Op<op::NpiWhere>({c.Op<op::NpiLessEqual>({twice, x}), twice, below});
}

// Powers of two. What is out of range is the nearest of them, or no number
// without `saturate`.
Value RoundedToPower(Call& c, Value x, PowerRounding rounding, bool saturate) {
  const double least = std::ldexp(1.0, -127), greatest = std::ldexp(1.0, 127);
  const Value low = PowerBelow(c, x), high = c.Mul(low, 2.0);
  Value y = low;
  if (rounding == PowerRounding::kUp) {
    y = c.Op<op::NpiWhere>({c.Op<op::NpiEqual>({low, x}), low, high});
  } else if (rounding == PowerRounding::kNearest) {
    y = c.Op<op::NpiWhere>(
        {c.Op<op::NpiGreaterEqual>({x, c.Mul(low, 1.5)}), high, low});
  }
  y = Limited(c, y, least, greatest);
  Value none = c.Op<op::NpiIsnan>({x});
  if (!saturate) {
    const Value beyond = c.Op<op::BroadcastLogicalOr>(
        {c.Op<op::NpiLessScalar>({x}, {.scalar = least}),
         c.Op<op::NpiGreaterScalar>({x}, {.scalar = greatest})});
    none = c.Op<op::BroadcastLogicalOr>({none, beyond});
  }
  return c.Op<op::NpiWhere>({none, c.ScalarLike(kNoNumber, y), y});
}

}  // namespace

Value CastToNarrow(Call& c, Value x, int32_t data_type, bool saturate) {
  if (data_type == TensorProto::kFloat8e8m0) {
    const auto rounding = static_cast<PowerRounding>(
        c.OneOf("round_mode", {"up", "down", "nearest"}, 0));
    return RoundedToPower(c, c.Cast(x, DType::kF32), rounding, saturate);
  }
  if (IsSmallFloat(data_type)) {
    return RoundedToSmallFloat(c, c.Cast(x, DType::kF32), data_type, saturate);
  }
  const auto range = IntegerRangeOf(data_type);
  c.Require(range && range->bits < 8, "a cast to {} is not supported",
            DataTypeName(data_type));
  const Value whole = c.Cast(x, DType::kI32);
  const double offset = -range->least;
  const Value low =
      c.Op<op::ModScalar>({c.Add(whole, offset)},
                          {.scalar = static_cast<double>(1 << range->bits)});
  return c.Cast(c.Sub(low, offset), *DTypeOf(data_type));
}

}  // namespace mxc::onnx
