// SPDX-License-Identifier: Apache-2.0
// Parses --input-shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/graph/tensor.h"

namespace mxc {

// "data:1x3x224x224"; the name may hold colons. Nothing if it is not that.
std::optional<std::pair<std::string, Extents>> ParseNamedShape(
    std::string_view text);

}  // namespace mxc
