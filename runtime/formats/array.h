// SPDX-License-Identifier: Apache-2.0
// A dense row-major array as files hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/element.h"
#include "runtime/base/file_piece.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Bytes of a whole array; nullopt if a dimension is negative or the product
// exceeds 2^62.
std::optional<int64_t> ArrayBytes(ElementType type,
                                  std::span<const int64_t> shape);

// Copies share the bytes.
struct Array {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::shared_ptr<std::byte[]> storage;  // aligned to 64 bytes
  // Where the elements lie instead, of an array that is only written to files.
  std::shared_ptr<const FilePiece> in_file = {};

  // Uninitialised; the shape must be legal (ArrayBytes).
  static StatusOr<Array> Allocate(ElementType type, std::vector<int64_t> shape);

  std::span<std::byte> bytes();
  std::span<const std::byte> bytes() const;
};

struct NamedArray {
  std::string name;
  Array array;
};

// Without MXNet's "arg:" or "aux:". Other colons are the name's own, as in
// "onnx::Conv_538" of PyTorch's exporter.
inline std::string_view OwnName(std::string_view name) {
  const bool prefixed = name.starts_with("arg:") || name.starts_with("aux:");
  return prefixed ? name.substr(4) : name;
}

}  // namespace mxc::runtime
