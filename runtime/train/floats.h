// SPDX-License-Identifier: Apache-2.0
// Converts tensors of any element type to f32, for metrics and statistics.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/formats/array.h"

namespace mxc::train {

// Elements of any type as floats, rounded to the nearest; the spans hold
// equally many.
void ToFloats(runtime::ElementType type, std::span<const std::byte> elements,
              std::span<float> values);
// Into as many as they are; the vector keeps its memory.
void ToFloats(runtime::ElementType type, std::span<const std::byte> elements,
              std::vector<float>& values);

}  // namespace mxc::train
