// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/difference.h"

#include <algorithm>
#include <cmath>

namespace mxc {
namespace {

bool Differ(double found, double expected, double limit) {
  if (std::isnan(found) || std::isnan(expected)) {
    return std::isnan(found) != std::isnan(expected);
  }
  if (std::isinf(found) || std::isinf(expected)) return found != expected;
  return std::abs(found - expected) > limit;
}

}  // namespace

double LastBit(DType dtype) {
  if (dtype == DType::kF16) return 0x1p-10;
  return dtype == DType::kBF16 ? 0x1p-7 : 0;
}

double AllowedError(const Tolerance& tolerance, double expected, double scale,
                    DType dtype) {
  const double magnitude = std::isfinite(expected) ? std::abs(expected) : 0;
  const double rounding = tolerance.roundings * LastBit(dtype);
  return tolerance.absolute * std::max(1.0, scale) +
         tolerance.relative * magnitude +
         rounding * (tolerance.roundings > 1 ? scale : magnitude) +
         tolerance.more;
}

double LargestMagnitude(const Tensor& tensor) {
  double largest = 0;
  const int64_t count = tensor.shape().elements();
  for (int64_t i = 0; i < count; ++i) {
    const double magnitude = std::abs(static_cast<double>(tensor.At(i)));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

Difference Compare(const Tensor& found, const Tensor& expected,
                   const Tolerance& tolerance, const Tensor* bounds) {
  Difference d;
  const int64_t count = expected.shape().elements();
  d.scale = LargestMagnitude(expected);
  double excess = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double f = found.At(i), e = expected.At(i);
    const double error = std::abs(f - e);
    if (std::isfinite(error)) d.error = std::max(d.error, error);
    const double limit =
        bounds != nullptr
            ? bounds->At(i)
            : AllowedError(tolerance, e, d.scale, expected.type().dtype);
    if (!Differ(f, e, limit)) continue;
    const double over = std::isfinite(error) ? error - limit : HUGE_VAL;
    if (d.worst >= 0 && over <= excess) continue;
    excess = over;
    d.worst = i, d.found = f, d.expected = e;
  }
  return d;
}

std::string IndexText(int64_t position, const Shape& shape) {
  Extents index(shape.dims().size());
  for (size_t axis = index.size(); axis-- > 0;) {
    index[axis] = position % shape[static_cast<int>(axis)];
    position /= shape[static_cast<int>(axis)];
  }
  return ToString(index);
}

}  // namespace mxc
