// SPDX-License-Identifier: Apache-2.0
// Elements of one type as those of another.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/formats/array.h"

namespace mxc::runtime {

// Converts every element of `from` as MXNet's and NumPy's astype do on x86:
// floats round to even; what has a fraction is cut to an integer, whose low
// bits count where the type is narrower; what no 32 bits hold (64 for int64,
// uint32 and uint64) and NaN become the integer of the highest bit alone; bool
// is whether the element is not 0. The spans hold equally many elements.
void ConvertElements(ElementType from_type, std::span<const std::byte> from,
                     ElementType to_type, std::span<std::byte> to);

}  // namespace mxc::runtime
