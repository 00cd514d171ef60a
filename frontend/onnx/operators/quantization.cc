// SPDX-License-Identifier: Apache-2.0
// Networks of integers. Sums of products are exact: in float32 where no partial
// sum can exceed 2^24, as a sum of such sums where they could, in float64 where
// even a single term's could.
#include "frontend/onnx/operators/quantization.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "frontend/onnx/operators/windows.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {
namespace {

std::string LevelText(double value) { return fmt::format("{}", value); }

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

Value RoundToEven(Call& c, Value x) {
  return c.Op("_npi_around", {x}, {{"decimals", "0"}});
}

Value Limited(Call& c, Value x, double least, double greatest) {
  return c.Op("clip", {x},
              {{"a_min", LevelText(least)}, {"a_max", LevelText(greatest)}});
}

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
  Value exponent = c.Op("floor", {c.Op("log2", {c.Abs(x)})});
  exponent = Limited(c, c.Sub(exponent, f.least_exponent), 0,
                     static_cast<double>(count - 1));
  const Value step = c.Op("take", {table, c.Cast(exponent, DType::kI32)},
                          {{"axis", "0"}, {"mode", "clip"}});
  // Infinity over any step is itself.
  Value y = c.Mul(RoundToEven(c, c.Div(x, step)), step);
  if (!f.negative_zero) y = c.Add(y, 0.0);
  const auto scalar = [&](double value) { return c.ScalarLike(value, y); };
  if (f.beyond == f.greatest) {
    // Where nothing stands for NaN, the reference has the zero below.
    y = c.Op("_npi_where", {c.Op("_npi_isnan", {y}), scalar(-0.0),
                            Limited(c, y, -f.greatest, f.greatest)});
  } else if (saturate) {
    y = Limited(c, y, -f.greatest, f.greatest);
  } else {
    const Value over = c.Op("_npi_greater_scalar", {c.Abs(y)},
                            {{"scalar", LevelText(f.greatest)}});
    const Value beyond =
        std::isnan(f.beyond) ? scalar(f.beyond) : c.Mul(c.Sign(y), f.beyond);
    y = c.Op("_npi_where", {over, beyond, y});
  }
  return y;
}

Value CastToNarrow(Call& c, Value x, int32_t data_type, bool saturate) {
  if (IsSmallFloat(data_type)) {
    return RoundedToSmallFloat(c, c.Cast(x, DType::kF32), data_type, saturate);
  }
  const auto range = IntegerRangeOf(data_type);
  c.Require(range && range->bits < 8, "a cast to {} is not supported",
            DataTypeName(data_type));
  const Value whole = c.Cast(x, DType::kI32);
  const std::string count = std::to_string(1 << range->bits);
  const double offset = -range->least;
  const Value low =
      c.Op("_mod_scalar", {c.Add(whole, offset)}, {{"scalar", count}});
  return c.Cast(c.Sub(low, offset), *DTypeOf(data_type));
}

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
      x = c.Op("repeat", {x},
               {{"repeats", std::to_string(std::min(block_, data_[axis]))},
                {"axis", std::to_string(axis)}});
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
  const auto extreme = [&](std::string_view op, std::string_view bound) {
    return c.Op(bound, {c.Op(op, {x})}, {{"scalar", "0"}});
  };
  const Value low = extreme("_np_min", "_minimum_scalar");
  const Value high = extreme("_np_max", "_maximum_scalar");
  // A division by a number is a product of its reciprocal.
  const Value span = c.Sub(high, low);
  Value scale = c.Div(span, c.ScalarLike(255, span));
  // Zeros have the scale 1.
  const Value none = c.Op("_npi_equal_scalar", {scale}, {{"scalar", "0"}});
  scale = c.Op("_npi_where", {none, c.ScalarLike(1, scale), scale});
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

// --- exact sums of products -------------------------------------------------

namespace {

// Whole numbers up to it are floats, and so are all sums that stay below it.
constexpr double kExactInF32 = 1 << 24;

struct Reach {
  double least, greatest;
};

Reach ReachOf(Call& c, int i) {
  const auto range = IntegerRangeOf(c.DataTypeOf(i));
  c.Require(range && range->bits <= 8,
            "input {} has elements of {}, expected int8 or uint8", i,
            DataTypeName(c.DataTypeOf(i)));
  return {range->least, range->greatest};
}

// Consecutive parts of `extent` slices of a sum whose terms are at most `bound`
// and of which each slice has `terms`; empty where a slice alone is too long.
std::vector<int64_t> ExactParts(int64_t extent, double terms, double bound) {
  const double most = std::floor(kExactInF32 / std::max(1.0, terms * bound));
  if (most < 1) return {};
  const auto size =
      static_cast<int64_t>(std::min(most, static_cast<double>(extent)));
  const int64_t parts = (extent - 1) / size + 1;
  std::vector<int64_t> ends;
  for (int64_t p = 1; p <= parts; ++p) ends.push_back(extent * p / parts);
  return ends;
}

// The same for a sum with weights that are known, of whose slices the greatest
// sum of |w| over one output is known, one list for each output.
class KnownParts {
 public:
  explicit KnownParts(int64_t outputs) : sums_(outputs, 0) {}
  // Another slice, whose sum for each output `of` says.
  template <class F>
  bool Add(int64_t slice, double bound, const F& of) {
    bool over = false;
    std::vector<double> own(sums_.size());
    for (size_t m = 0; m < sums_.size(); ++m) {
      own[m] = of(static_cast<int64_t>(m)) * bound;
      if (own[m] > kExactInF32) return false;
      over = over || sums_[m] + own[m] > kExactInF32;
    }
    if (over) {
      ends_.push_back(slice);
      sums_ = std::move(own);
    } else {
      for (size_t m = 0; m < sums_.size(); ++m) sums_[m] += own[m];
    }
    return true;
  }
  std::vector<int64_t> Ends(int64_t extent) {
    ends_.push_back(extent);
    return std::move(ends_);
  }

 private:
  std::vector<double> sums_;
  std::vector<int64_t> ends_;
};

constexpr int64_t kMostLookedAt = int64_t{1} << 25;  // weights

std::optional<Tensor> KnownWeights(const Value& value) {
  if (value.node->kind != Node::Kind::kConstant) return std::nullopt;
  const Tensor& tensor = value.node->constant;
  if (tensor.type().dtype != DType::kF32) return std::nullopt;
  if (tensor.shape().elements() > kMostLookedAt) return std::nullopt;
  return tensor;
}

// How many parts an exact sum may become before one in f64 is cheaper.
constexpr size_t kMostParts = 16;

Value SumOfParts(Call& c, const std::vector<int64_t>& ends,
                 const std::function<Value(int64_t, int64_t)>& part) {
  Value sum;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    const Value term = c.Cast(part(begin, end), DType::kI32);
    sum = sum ? c.Add(sum, term) : term;
    begin = end;
  }
  return sum;
}

// Constants of more elements than Call folds at once, computed here: whole
// numbers less a zero point.
Value LessZero(Call& c, int i, const Value& zero) {
  const Value given = c.In(i);
  const auto known = c.Known(i);
  const bool folds = known && known->shape().elements() <= kMostLookedAt &&
                     (!zero || zero.node->kind == Node::Kind::kConstant);
  if (!folds) {
    const Value x = c.Cast(given, DType::kF32);
    return zero ? c.Sub(x, zero) : x;
  }
  const Shape& shape = known->shape();
  std::byte* bytes = nullptr;
  Tensor result = Tensor::Allocate({DType::kF32, shape}, &bytes);
  auto* to = reinterpret_cast<float*>(bytes);
  const int64_t count = shape.elements();
  for (int64_t k = 0; k < count; ++k) to[k] = static_cast<float>(known->At(k));
  if (zero) {
    // Its axes align at the last one.
    const Shape& z = zero.shape();
    const auto zeros = zero.node->constant.floats();
    const int skip = shape.rank() - z.rank();
    c.Require(skip >= 0, "its zero point has {} axes, the operand {}", z.rank(),
              shape.rank());
    Extents strides(shape.rank(), 0);
    int64_t stride = 1;
    for (int axis = z.rank() - 1; axis >= 0; --axis) {
      c.Require(z[axis] == 1 || z[axis] == shape[axis + skip],
                "its zero point has shape {}, the operand {}", ToString(z),
                ToString(shape));
      strides[axis + skip] = z[axis] == 1 ? 0 : stride;
      stride *= z[axis];
    }
    for (int64_t k = 0; k < count; ++k) {
      int64_t rest = k, at = 0;
      for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        at += rest % shape[axis] * strides[axis];
        rest /= shape[axis];
      }
      to[k] -= zeros[at];
    }
  }
  return c.Constant(std::move(result), "levels");
}

}  // namespace

WholeNumbers WholeNumbersOf(Call& c, int i, int zero,
                            const Extents& zero_shape) {
  const Reach reach = ReachOf(c, i);
  double least = reach.least, greatest = reach.greatest;
  Value offset;
  if (zero >= 0 && c.Has(zero)) {
    c.Require(c.DTypeOf(zero) == c.DTypeOf(i),
              "its zero point is {}, the operand {}", ToString(c.TypeOf(zero)),
              ToString(c.TypeOf(i)));
    least = reach.greatest, greatest = reach.least;
    if (const auto known = c.Known(zero)) {
      for (int64_t k = 0; k < known->shape().elements(); ++k) {
        least = std::min(least, known->At(k));
        greatest = std::max(greatest, known->At(k));
      }
    } else {
      std::swap(least, greatest);
    }
    if (!(least == 0 && greatest == 0)) {
      offset = ScaleOf(c, zero, zero_shape);
    }
  } else {
    least = greatest = 0;
  }
  const double bound = std::max(reach.greatest - least, greatest - reach.least);
  return {LessZero(c, i, offset), bound};
}

Value ExactMatMul(Call& c, const WholeNumbers& a, const WholeNumbers& b) {
  Value left = a.value, right = b.value;
  const int rank_a = left.shape().rank(), rank_b = right.shape().rank();
  c.Require(rank_a > 0 && rank_b > 0, "one operand is a scalar");
  if (rank_a == 1) left = c.Unsqueeze(left, 0);
  if (rank_b == 1) right = c.Unsqueeze(right, 1);
  const int axis_a = left.shape().rank() - 1, axis_b = right.shape().rank() - 2;
  const int64_t extent = left.shape()[axis_a];
  c.Require(extent == right.shape()[axis_b],
            "its operands have the shapes {} and {}, whose products have no "
            "sum",
            ToString(left.shape()), ToString(right.shape()));
  const auto product = [&](Value l, Value r) {
    return r.shape().rank() == 2 ? c.Op("dot", {l, r})
                                 : c.Op("_npi_matmul", {l, r});
  };
  std::vector<int64_t> ends = ExactParts(extent, 1, a.bound * b.bound);
  const auto weights = KnownWeights(right);
  if (ends.size() > 1 && weights && right.shape().rank() == 2) {
    const int64_t columns = right.shape()[1];
    const auto w = weights->floats();
    KnownParts parts(columns);
    for (int64_t k = 0; k < extent; ++k) {
      parts.Add(k, a.bound,
                [&](int64_t m) { return std::abs(w[k * columns + m]); });
    }
    ends = parts.Ends(extent);
  }
  Value sum;
  if (ends.size() > kMostParts) {
    sum = c.Cast(product(c.Cast(left, DType::kF64), c.Cast(right, DType::kF64)),
                 DType::kI32);
  } else {
    sum = SumOfParts(c, ends, [&](int64_t begin, int64_t end) {
      if (end - begin == extent) return product(left, right);
      return product(c.SliceAxis(left, axis_a, begin, end),
                     c.SliceAxis(right, axis_b, begin, end));
    });
  }
  Extents dims = sum.shape().dims();
  if (rank_b == 1) dims.pop_back();
  if (rank_a == 1) dims.erase(dims.end() - (rank_b == 1 ? 1 : 2));
  return c.Reshape(sum, dims);
}

Value ExactConvolution(Call& c, int weight, const WholeNumbers& x,
                       const WholeNumbers& w) {
  const Shape& filters = w.value.shape();
  c.Require(filters.rank() >= 3 && x.value.shape().rank() == filters.rank(),
            "its weight has {} axes, its data {}", filters.rank(),
            x.value.shape().rank());
  const int64_t group = c.Int("group", 1);
  const int64_t channels = filters[1];
  double taps = 1;
  for (int axis = 2; axis < filters.rank(); ++axis) {
    taps *= static_cast<double>(filters[axis]);
  }
  std::vector<int64_t> ends = ExactParts(channels, taps, x.bound * w.bound);
  const auto weights = KnownWeights(w.value);
  if (ends.size() != 1 && weights) {
    const auto values = weights->floats();
    const auto cells = static_cast<int64_t>(taps);
    KnownParts parts(filters[0]);
    bool fits = true;
    for (int64_t k = 0; fits && k < channels; ++k) {
      fits = parts.Add(k, x.bound, [&](int64_t m) {
        double sum = 0;
        const int64_t at = (m * channels + k) * cells;
        for (int64_t t = 0; t < cells; ++t) sum += std::abs(values[at + t]);
        return sum;
      });
    }
    ends = fits ? parts.Ends(channels) : std::vector<int64_t>();
  }
  const bool splits = !ends.empty() && ends.size() <= kMostParts &&
                      (group == 1 || ends.size() == 1);
  if (!splits) {
    const Value wide = Convolved(c, weight, c.Cast(x.value, DType::kF64),
                                 c.Cast(w.value, DType::kF64), {});
    return c.Cast(wide, DType::kI32);
  }
  return SumOfParts(c, ends, [&](int64_t begin, int64_t end) {
    if (end - begin == channels) {
      return Convolved(c, weight, x.value, w.value, {});
    }
    c.Require(x.value.shape()[1] == channels,
              "its data have {} channels, its weight {}", x.value.shape()[1],
              channels);
    return Convolved(c, weight, c.SliceAxis(x.value, 1, begin, end),
                     c.SliceAxis(w.value, 1, begin, end), {});
  });
}

namespace {

Extents AlongAxis(Call& c, int i, int rank, int from_last) {
  if (!c.Has(i)) return {};
  const Shape& shape = c.ShapeOf(i);
  if (shape.elements() == 1) return {};
  if (shape.rank() > 1) return shape.dims();
  if (rank < 2) return shape.dims();
  Extents dims(rank, 1);
  dims[rank - from_last] = shape[0];
  return dims;
}

// One for each filter, beside filters [M, C, …].
Extents AlongFilters(Call& c, int i, const Shape& filters) {
  c.Require(filters.rank() >= 3, "its weight has {} axes", filters.rank());
  Extents dims(filters.rank(), 1);
  if (c.Has(i) && c.ShapeOf(i).elements() > 1) dims[0] = filters[0];
  return dims;
}

}  // namespace

Extents AlongRows(Call& c, int i, int rank) { return AlongAxis(c, i, rank, 2); }
Extents AlongColumns(Call& c, int i, int rank) {
  return AlongAxis(c, i, rank, 1);
}

void ImportMatMulInteger(Call& c) {
  const WholeNumbers a = WholeNumbersOf(c, 0, 2, AlongRows(c, 2, c.RankOf(0)));
  const WholeNumbers b =
      WholeNumbersOf(c, 1, 3, AlongColumns(c, 3, c.RankOf(1)));
  c.Give(0, ExactMatMul(c, a, b));
}

void ImportConvInteger(Call& c) {
  const WholeNumbers x = WholeNumbersOf(c, 0, 2, {});
  const WholeNumbers w =
      WholeNumbersOf(c, 1, 3, AlongFilters(c, 3, c.ShapeOf(1)));
  c.Give(0, ExactConvolution(c, 1, x, w));
}

void ImportQLinearMatMul(Call& c) {
  const int rank_a = c.RankOf(0), rank_b = c.RankOf(3);
  const WholeNumbers a = WholeNumbersOf(c, 0, 2, AlongRows(c, 2, rank_a));
  const WholeNumbers b = WholeNumbersOf(c, 3, 5, AlongColumns(c, 5, rank_b));
  const Value sum = c.Cast(ExactMatMul(c, a, b), DType::kF32);
  Value scale = c.Mul(ScaleOf(c, 1, AlongRows(c, 1, rank_a)),
                      ScaleOf(c, 4, AlongColumns(c, 4, rank_b)));
  const Value out = ScaleOf(c, 6, AlongRows(c, 6, sum.shape().rank()));
  scale = c.Div(scale, out);
  const int32_t type = c.DataTypeOf(7);
  c.Give(0, Quantized(c, c.Mul(sum, scale), ZeroPoint(c, 7), type));
  c.SetDataType(0, type);
}

void ImportQLinearConv(Call& c) {
  const WholeNumbers x = WholeNumbersOf(c, 0, 2, {});
  const Shape& filters = c.ShapeOf(3);
  const WholeNumbers w = WholeNumbersOf(c, 3, 5, AlongFilters(c, 5, filters));
  Value sum = ExactConvolution(c, 3, x, w);
  Extents channels(sum.shape().rank(), 1);
  channels[1] = filters[0];
  if (c.Has(8)) {
    c.Require(c.ShapeOf(8) == Shape{filters[0]},
              "its bias has shape {}, expected one entry for each of {} "
              "filters",
              ToString(c.ShapeOf(8)), filters[0]);
    sum = c.Add(sum, c.Reshape(c.Cast(c.In(8), DType::kI32), channels));
  }
  const Value scale =
      c.Div(c.Mul(ScaleOf(c, 1), ScaleOf(c, 4, channels)), ScaleOf(c, 6));
  const int32_t type = c.DataTypeOf(7);
  const Value zero = ZeroPoint(c, 7);
  c.Give(0, Quantized(c, c.Mul(c.Cast(sum, DType::kF32), scale),
                      zero ? c.Reshape(zero, Shape(Extents())) : zero, type));
  c.SetDataType(0, type);
}

}  // namespace mxc::onnx
