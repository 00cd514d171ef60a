// SPDX-License-Identifier: Apache-2.0
// Samples of which nothing can be learned: one value that is no number makes every
// weight one that is none.
#pragma once

#include <cstddef>

#include "runtime/data/source.h"

namespace mxc::data {

// Of row `row` of the `rows` of a batch: a bad record where it holds NaN, with the
// place. Arrays of other types than f32 are passed over.
Status CheckNumbers(const NamedArray& named, size_t row, size_t rows);

}  // namespace mxc::data
