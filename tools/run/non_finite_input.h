// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/element.h"

namespace mxc::run {

// "input 'data' holds nan at (0, 2, 17)"; nothing where all is finite.
std::optional<std::string> DescribeNonFinite(std::string_view input,
                                             runtime::ElementType type,
                                             runtime::Bytes values,
                                             std::span<const int64_t> shape);

}  // namespace mxc::run
