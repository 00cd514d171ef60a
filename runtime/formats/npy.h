// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3: one array of numbers, which become
// little-endian and row-major where they are stored otherwise. Other elements
// are refused by name, and bfloat16, which NumPy lacks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::runtime {

// An array that stays in the file: the elements lie where `bytes` do, at any
// alignment. Those that are big-endian or stored column by column lie in
// `copy`.
struct NpyView {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> elements;
  std::shared_ptr<std::byte[]> copy;
};

StatusOr<NpyView> ViewNpy(std::span<const std::byte> bytes);
StatusOr<Array> ParseNpy(std::span<const std::byte> bytes);
StatusOr<Array> ReadNpy(const std::string& path);

// Version 1.0, padded as NumPy pads it.
StatusOr<std::string> NpyHeader(const Array& array);
Status WriteNpy(const std::string& path, const Array& array);

}  // namespace mxc::runtime
