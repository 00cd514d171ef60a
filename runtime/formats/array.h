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

#include "runtime/base/status.h"

namespace mxc::runtime {

// The values are MXNet's type flags (MXNet 1.9.1 3rdparty/mshadow/base.h).
enum class ElementType : int8_t {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,
  kU8 = 3,
  kI32 = 4,
  kI8 = 5,
  kI64 = 6,
  kBool = 7,
  kI16 = 8,
  kU16 = 9,
  kU32 = 10,
  kU64 = 11,
  kBF16 = 12,
};

std::optional<ElementType> ElementTypeFromFlag(int64_t flag);
int64_t ElementBytes(ElementType type);
bool IsFloat(ElementType type);  // float16, bfloat16, float32, float64
std::string_view ElementName(ElementType type);  // "float32"

// Bytes of a whole array; nullopt if a dimension is negative or the product
// exceeds 2^62.
std::optional<int64_t> ArrayBytes(ElementType type,
                                  std::span<const int64_t> shape);

// Copies share the bytes.
struct Array {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::shared_ptr<std::byte[]> storage;  // aligned to 64 bytes

  // Uninitialised; the shape must be legal (ArrayBytes).
  static StatusOr<Array> Allocate(ElementType type, std::vector<int64_t> shape);

  std::span<std::byte> bytes();
  std::span<const std::byte> bytes() const;
};

struct NamedArray {
  std::string name;
  Array array;
};

}  // namespace mxc::runtime
