// SPDX-License-Identifier: Apache-2.0
// Real numbers as levels, and back.
#include "frontend/onnx/operators/quantization.h"

#include <algorithm>

#include "frontend/onnx/tensor_data.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/shape/repeat.h"

namespace mxc::onnx {
namespace {

bool AllZeros(const Tensor& tensor) {
  constexpr int64_t kLook = 1 << 20;
  const int64_t count = tensor.shape().elements();
  if (count > kLook) return false;
  for (int64_t i = 0; i < count; ++i) {
    if (tensor.At(i) != 0) return false;
  }
  return true;
}

}  // namespace

Value Quantized(Call& c, Value quotient, Value zero, int32_t data_type,
                bool saturate) {
  Value level = c.Cast(quotient, DType::kF32);
  if (IsSmallFloat(data_type)) {
    if (zero) level = c.Add(level, zero);
    return RoundedToSmallFloat(c, level, data_type, saturate);
  }
  const auto range = IntegerRangeOf(data_type);
  c.Require(range.has_value(), "levels of {} are not supported",
            DataTypeName(data_type));
  level = RoundToEven(c, level);
  if (zero) level = c.Add(level, zero);
  level = Limited(c, level, range->least, range->greatest);
  return c.Cast(level, *DTypeOf(data_type));
}

Value Dequantized(Call& c, Value level, Value scale, Value zero) {
  Value value = c.Cast(level, DType::kF32);
  if (zero) value = c.Sub(value, zero);
  return c.Mul(c.Cast(value, scale.type().dtype), scale);
}

Value ZeroPoint(Call& c, int i) {
  if (!c.Has(i)) return {};
  if (const auto known = c.Known(i); known && AllZeros(*known)) return {};
  return c.Cast(c.In(i), DType::kF32);
}

Value ScalarZeroPoint(Call& c, int i) {
  const Value zero = ZeroPoint(c, i);
  return zero ? c.Reshape(zero, Shape(Extents())) : zero;
}

Value ScaleOf(Call& c, int i, const Extents& shape) {
  const Value scale = c.Cast(c.In(i), DType::kF32);
  if (scale.shape().elements() == 1) return c.Reshape(scale, Shape(Extents()));
  c.Require(
      !shape.empty() && scale.shape().elements() == Shape(shape).elements(),
      "input {} has shape {}, expected one element{}", i,
      ToString(scale.shape()),
      shape.empty() ? "" : fmt::format(" or the shape {}", TupleText(shape)));
  return c.Reshape(scale, shape);
}

// --- QuantizeLinear, DequantizeLinear ---------------------------------------

namespace {

// How scales and zero points lie along input 0.
class Granularity {
 public:
  explicit Granularity(Call& c)
      : data_(c.ShapeOf(0)),
        scale_(c.ShapeOf(1)),
        axis_(c.Int("axis", 1)),
        block_(c.Int("block_size", 0)) {
    c.Require(block_ >= 0, "block_size is {}", block_);
    if (c.Has(2)) {
      const Shape& zero = c.ShapeOf(2);
      c.Require(zero == scale_ || (zero.elements() == 1 && IsOne()),
                "its zero point has shape {}, its scale {}", ToString(zero),
                ToString(scale_));
    }
    if (IsOne()) return;
    const int rank = data_.rank();
    axis_ = c.Axis(axis_, rank);
    const int64_t extent = data_[static_cast<int>(axis_)];
    if (block_ == 0) {
      c.Require(scale_ == Shape{extent},
                "its scale has shape {}, axis {} of data the extent {}",
                ToString(scale_), axis_, extent);
      return;
    }
    c.Require(scale_.rank() == rank,
              "its scale has {} axes, data {}; blocks have as many",
              scale_.rank(), rank);
    for (int i = 0; i < rank; ++i) {
      const int64_t blocks =
          i == axis_ ? (data_[i] - 1) / block_ + 1 : data_[i];
      c.Require(scale_[i] == blocks,
                "its scale has the extent {} along axis {}, expected {}",
                scale_[i], i, blocks);
    }
  }

  // A scale or a zero point, to broadcast to data.
  Value Along(Call& c, Value x) const {
    if (!x) return x;
    if (IsOne()) return c.Reshape(x, Shape(Extents()));
    const auto axis = static_cast<int>(axis_);
    if (block_ == 0) {
      Extents dims(data_.rank(), 1);
      dims[axis] = data_[axis];
      return c.Reshape(x, dims);
    }
    if (block_ > 1) {
      x = c.Op<op::Repeat>(
          {x}, {.repeats = std::min(block_, data_[axis]), .axis = axis});
    }
    if (x.shape()[axis] == data_[axis]) return x;
    return c.SliceAxis(x, axis, 0, data_[axis]);
  }

 private:
  bool IsOne() const { return scale_.rank() == 0 || scale_ == Shape{1}; }

  const Shape data_, scale_;
  int64_t axis_;
  const int64_t block_;
};

}  // namespace

void ImportQuantizeLinear(Call& c) {
  const bool stated = c.Int("output_dtype", 0) != 0;
  const int32_t asked =
      stated ? c.DataType("output_dtype") : TensorProto::kUint8;
  const bool saturate = c.Flag("saturate", true);
  const auto precision = c.FloatType("precision");
  const int32_t type = c.Has(2) ? c.DataTypeOf(2) : asked;
  c.Require(!stated || asked == type, "output_dtype is {}, its zero point {}",
            DataTypeName(asked), DataTypeName(type));
  const Granularity granularity(c);
  // The quotient is of the scale's type.
  const Value given = c.In(1);
  DType dtype = precision.value_or(given.type().dtype);
  if (!IsFloat(dtype)) dtype = DType::kF32;
  const Value scale = granularity.Along(c, c.Cast(given, dtype));
  const Value quotient = c.Div(c.Cast(c.In(0), dtype), scale);
  const Value zero = granularity.Along(c, ZeroPoint(c, 2));
  c.Give(0, Quantized(c, quotient, zero, type, saturate));
  c.SetDataType(0, type);
}

void ImportDequantizeLinear(Call& c) {
  const auto asked = c.FloatType("output_dtype");
  const Granularity granularity(c);
  const Value given = c.In(1);
  const DType dtype = asked.value_or(given.type().dtype);
  // The difference in f32, the product in the output's type.
  const Value scale = granularity.Along(c, c.Cast(given, dtype));
  const Value zero = granularity.Along(c, ZeroPoint(c, 2));
  const Value level = c.In(0);
  if (level.type().dtype == DType::kI32) {
    // Biases: beyond 2^24 the nearest float.
    c.Require(!zero, "its data are int32, whose zero point must be 0");
  }
  c.Give(0, Dequantized(c, level, scale, zero));
}

DynamicLevels DynamicallyQuantized(Call& c, Value x) {
  const Value low =
      c.Op<op::MinimumScalar>({c.Op<op::NpMin>({x})}, {.scalar = 0});
  const Value high =
      c.Op<op::MaximumScalar>({c.Op<op::NpMax>({x})}, {.scalar = 0});
  // A division by a number is a product of its reciprocal.
  const Value span = c.Sub(high, low);
  Value scale = c.Div(span, c.ScalarLike(255, span));
  // Zeros have the scale 1.
  const Value none = c.Op<op::NpiEqualScalar>({scale}, {.scalar = 0});
  scale = c.Op<op::NpiWhere>({none, c.ScalarLike(1, scale), scale});
  const Value zero =
      RoundToEven(c, Limited(c, c.Div(c.Neg(low), scale), 0, 255));
  const Value level = c.Add(RoundToEven(c, c.Div(x, scale)), zero);
  return {Limited(c, level, 0, 255), scale, zero};
}

void ImportDynamicQuantizeLinear(Call& c) {
  const DynamicLevels levels = DynamicallyQuantized(c, c.In(0));
  c.Give(0, c.Cast(levels.level, DType::kU8));
  c.Give(1, levels.scale);
  c.Give(2, c.Cast(levels.zero, DType::kU8));
}

}  // namespace mxc::onnx
