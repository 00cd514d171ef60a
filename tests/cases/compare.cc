// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mxc {

std::optional<std::string> Difference(const Tensor& got, const Tensor& want,
                                      Tolerance tolerance) {
  if (got.type() != want.type()) {
    return fmt::format("is {}, expected {}", ToString(got.type()),
                       ToString(want.type()));
  }
  double worst = 0;
  int64_t at = -1, wrong = 0;
  const int64_t elements = want.shape().elements();
  for (int64_t i = 0; i < elements; ++i) {
    const double x = got.At(i), y = want.At(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double distance = std::abs(x - y);
    if (distance <= tolerance.absolute + tolerance.relative * std::abs(y) &&
        std::isfinite(y)) {
      continue;
    }
    ++wrong;
    if (at >= 0 && !(distance > worst)) continue;
    worst = distance;
    at = i;
  }
  if (at < 0) return std::nullopt;
  return fmt::format("{} of {} elements differ, worst [{}]: {}, expected {}",
                     wrong, elements, at, got.At(at), want.At(at));
}

double LargestMagnitude(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    if (std::isfinite(tensor.At(i))) {
      largest = std::max(largest, std::abs(tensor.At(i)));
    }
  }
  return largest;
}

}  // namespace mxc
