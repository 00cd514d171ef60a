// SPDX-License-Identifier: Apache-2.0
// Elements of one type as those of another.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/formats/array.h"

namespace mxc::runtime {

// Converts every element of `from` as SetElement (runtime/base/element.h) does.
// The spans hold equally many elements.
void ConvertElements(ElementType from_type, std::span<const std::byte> from,
                     ElementType to_type, std::span<std::byte> to);

}  // namespace mxc::runtime
