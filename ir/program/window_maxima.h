// SPDX-License-Identifier: Apache-2.0
// Interprets a max-pooling that a contraction does as it stores its sums.
#pragma once

#include <span>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// The maxima over the windows of a step (ContractionStep::maxima) of values that
// have the extents OutputDims, row-major: NaN where one of a window's values
// is. `out`: the shape of the step's output.
std::vector<Element> WindowMaxima(const ContractionStep& body,
                                  std::span<const Element> values,
                                  const Shape& out);

}  // namespace mxc
