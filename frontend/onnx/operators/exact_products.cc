// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators/exact_products.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "frontend/onnx/operators/quantization.h"
#include "frontend/onnx/operators/windows.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {
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
    return r.shape().rank() == 2 ? c.Op<op::Dot>({l, r})
                                 : c.Op<op::NpiMatmul>({l, r});
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

}  // namespace mxc::onnx
