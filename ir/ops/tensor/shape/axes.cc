// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/shape/axes.h"

#include <algorithm>

namespace mxc {

std::optional<int> ResolveAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::optional<int> RequireAxis(TypeInference& t, std::string_view label,
                               std::string_view name, int64_t axis, int rank) {
  const auto resolved = ResolveAxis(axis, rank);
  t.Require(resolved.has_value(),
            "{}: {} {} is out of range for a shape of rank {}", label, name,
            axis, rank);
  return resolved;
}

std::optional<Extents> RequireAxes(TypeInference& t, std::string_view label,
                                   const Extents& axes, int rank) {
  Extents sorted;
  for (const int64_t axis : axes) {
    const auto resolved = RequireAxis(t, label, "axis", axis, rank);
    if (!resolved) return std::nullopt;
    sorted.push_back(*resolved);
  }
  std::ranges::sort(sorted);
  const bool distinct = std::ranges::adjacent_find(sorted) == sorted.end();
  if (!t.Require(distinct, "{}: axes {} name an axis twice", label,
                 ToString(axes))) {
    return std::nullopt;
  }
  return sorted;
}

std::optional<int64_t> RequireProduct(TypeInference& t, int64_t a, int64_t b) {
  if (a == Shape::kUnknownDim || b == Shape::kUnknownDim) {
    return Shape::kUnknownDim;
  }
  const auto product = CheckedProduct({a, b});
  t.Require(product.has_value(), "{} times {} elements are too many", a, b);
  return product;
}

Extents AllAxes(int count) {
  Extents axes;
  for (int axis = 0; axis < count; ++axis) axes.push_back(axis);
  return axes;
}

std::vector<InputSpec> NumberedInputs(std::string_view name, int64_t count) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < count; ++i) {
    inputs.push_back({std::string(name) + std::to_string(i), InputKind::kData});
  }
  return inputs;
}

std::vector<std::string> NumberedOutputs(int64_t count) {
  if (count == 1) return {"output"};
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    names.push_back("output" + std::to_string(i));
  }
  return names;
}

}  // namespace mxc
