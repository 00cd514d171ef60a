// SPDX-License-Identifier: Apache-2.0
// Arrays for seeds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/formats/array.h"

namespace mxc::fuzz {

// Filled with small numbers of its bytes.
runtime::Array SmallArray(runtime::ElementType type,
                          std::vector<int64_t> shape);

// Lists of them: of every type, without elements, without axes, without names.
std::vector<std::vector<runtime::NamedArray>> SmallArrays();

// Each list as a file of the format that `write` writes.
using WriteArrays = runtime::Status (*)(const std::string& path,
                                        std::span<const runtime::NamedArray>);
std::vector<std::string> SmallFiles(WriteArrays write);

// Each of their arrays as an .npy file.
std::vector<std::string> SmallNpyFiles();

}  // namespace mxc::fuzz
