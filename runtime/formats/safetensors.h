// SPDX-License-Identifier: Apache-2.0
// The safetensors format: u64 length of a JSON header, the header, the arrays
// back to back. runtime/train/safetensors.h reads it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::runtime {

// The element type that a header calls so ("F32"), unless there is none here.
std::optional<ElementType> TypeOfSafetensors(std::string_view name);

// Refuses names that appear twice.
Status WriteSafetensors(const std::string& path,
                        std::span<const NamedArray> arrays);

}  // namespace mxc::runtime
