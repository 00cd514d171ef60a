// SPDX-License-Identifier: Apache-2.0
// Programs that compute nothing: they only copy elements of constants to other
// places.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// The outputs of a program of constants whose every step only moves elements:
// slices, transpositions, reversals, concatenations. Nothing if a step does
// more. An output that is a range of a constant's bytes shares them.
std::optional<std::vector<Tensor>> MovedElements(const Program& program);

// The same bytes, not copied, under another shape of as many.
Tensor Reshaped(const Tensor& source, const TensorType& type);

}  // namespace mxc
