// SPDX-License-Identifier: Apache-2.0
#include "tools/run/non_finite_input.h"

#include <cmath>
#include <vector>

#include "runtime/executor/non_finite.h"
#include "tools/run/session.h"

namespace mxc::run {
namespace {

// "(0, 2, 17)": the place of an element.
std::string PlaceIn(std::span<const int64_t> shape, size_t element) {
  std::vector<int64_t> place(shape.size());
  auto rest = static_cast<int64_t>(element);
  for (size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return DescribeShape(place);
}

std::optional<std::string> SentenceOf(const std::string& tensor,
                                      runtime::ElementType type,
                                      runtime::Bytes values,
                                      std::span<const int64_t> shape) {
  const auto found =
      runtime::FirstNonFinite(static_cast<uint8_t>(type), values);
  if (!found) return std::nullopt;
  const char* value = std::isnan(found->value) ? "nan"
                      : found->value < 0       ? "-inf"
                                               : "inf";
  return tensor + " holds " + value + " at " + PlaceIn(shape, found->index);
}

}  // namespace

std::optional<std::string> DescribeNonFinite(std::string_view input,
                                             runtime::ElementType type,
                                             runtime::Bytes values,
                                             std::span<const int64_t> shape) {
  return SentenceOf("input '" + std::string(input) + "'", type, values, shape);
}

std::optional<std::string> DescribeNonFinite(
    std::span<const OutputValues> outputs) {
  for (const auto& [name, array] : outputs) {
    auto sentence = SentenceOf("output '" + name + "'", array.type,
                               array.bytes(), array.shape);
    if (sentence) return *sentence + ", though no input does";
  }
  return std::nullopt;
}

}  // namespace mxc::run
