// SPDX-License-Identifier: Apache-2.0
// Describes the first NaN or infinity of inputs and outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/element.h"
#include "tools/run/answer.h"

namespace mxc::run {

// "input 'data' holds nan at (0, 2, 17)"; nothing where all is finite.
std::optional<std::string> DescribeNonFinite(std::string_view input,
                                             runtime::ElementType type,
                                             runtime::Bytes values,
                                             std::span<const int64_t> shape);
// The first output that does, of inputs that are finite: what it is then the
// network's doing.
std::optional<std::string> DescribeNonFinite(
    std::span<const OutputValues> outputs);

}  // namespace mxc::run
