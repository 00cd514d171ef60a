// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3: one array. Little-endian, row-major;
// anything else is refused by name. bfloat16, which NumPy lacks, too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::runtime {

// An array that stays in the file: the elements lie where `bytes` do, at any
// alignment.
struct NpyView {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> elements;
};

StatusOr<NpyView> ViewNpy(std::span<const std::byte> bytes);
StatusOr<Array> ParseNpy(std::span<const std::byte> bytes);
StatusOr<Array> ReadNpy(const std::string& path);

// Version 1.0, padded as NumPy pads it.
StatusOr<std::string> NpyHeader(const Array& array);
Status WriteNpy(const std::string& path, const Array& array);

}  // namespace mxc::runtime
