// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/number_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mxc::data {
namespace {

// "(2, 0, 5)": the place of an element of a sample.
std::string PlaceText(const std::vector<int64_t>& batch_shape, size_t element) {
  std::string text;
  auto rest = static_cast<int64_t>(element);
  for (size_t axis = batch_shape.size(); axis-- > 1;) {
    text = std::to_string(rest % batch_shape[axis]) +
           (text.empty() ? "" : ", ") + text;
    rest /= batch_shape[axis];
  }
  return text.empty() ? "" : " at (" + text + ")";
}

// So many at once that a compiler makes vectors of it.
bool HoldsNan(const float* values, size_t count) {
  constexpr size_t kBlock = 64;
  size_t i = 0;
  for (; count - i >= kBlock; i += kBlock) {
    int found = 0;
    for (size_t j = 0; j < kBlock; ++j) {
      found |= values[i + j] != values[i + j] ? 1 : 0;
    }
    if (found != 0) return true;
  }
  return std::any_of(values + i, values + count,
                     [](float value) { return std::isnan(value); });
}

}  // namespace

Status CheckNumbers(const NamedArray& named, size_t row, size_t rows) {
  if (named.array.type != ElementType::kF32) return {};
  const std::span<const std::byte> bytes = named.array.bytes();
  const size_t count = bytes.size() / sizeof(float) / rows;
  const float* values =
      reinterpret_cast<const float*>(bytes.data()) + row * count;
  if (!HoldsNan(values, count)) return {};
  for (size_t i = 0; i < count; ++i) {
    if (!std::isnan(values[i])) continue;
    return BadRecord("'" + named.name + "' holds nan" +
                     PlaceText(named.array.shape, i));
  }
  return {};
}

}  // namespace mxc::data
