// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/array.h"

#include <algorithm>
#include <array>
#include <new>

namespace mxc::runtime {
namespace {

struct TypeRow {
  std::string_view name;
  int64_t bytes;
};

// Indexed by type flag.
constexpr std::array<TypeRow, 13> kTypes = {{
    {"float32", 4},
    {"float64", 8},
    {"float16", 2},
    {"uint8", 1},
    {"int32", 4},
    {"int8", 1},
    {"int64", 8},
    {"bool", 1},
    {"int16", 2},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"bfloat16", 2},
}};

constexpr std::align_val_t kAlignment{64};

const TypeRow& Row(ElementType type) {
  return kTypes[static_cast<size_t>(type)];
}

}  // namespace

std::optional<ElementType> ElementTypeFromFlag(int64_t flag) {
  if (flag < 0 || flag >= static_cast<int64_t>(kTypes.size())) {
    return std::nullopt;
  }
  return static_cast<ElementType>(flag);
}

int64_t ElementBytes(ElementType type) { return Row(type).bytes; }
bool IsFloat(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 ||
         type == ElementType::kF16 || type == ElementType::kBF16;
}
std::string_view ElementName(ElementType type) { return Row(type).name; }

std::optional<int64_t> ArrayBytes(ElementType type,
                                  std::span<const int64_t> shape) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  if (std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; })) {
    return std::nullopt;
  }
  int64_t product = ElementBytes(type);
  for (const int64_t dim : shape) {
    if (dim == 0) return 0;
    if (product > kLimit / dim) return std::nullopt;
    product *= dim;
  }
  return product;
}

StatusOr<Array> Array::Allocate(ElementType type, std::vector<int64_t> shape) {
  Array array{type, std::move(shape), nullptr};
  const auto size = ArrayBytes(type, array.shape);
  if (!size) return Status(StatusCode::kInvalidArgument, "illegal shape");
  void* memory = ::operator new(std::max<size_t>(1, static_cast<size_t>(*size)),
                                kAlignment, std::nothrow);
  if (memory == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "cannot allocate " + std::to_string(*size) + " bytes");
  }
  array.storage = std::shared_ptr<std::byte[]>(
      static_cast<std::byte*>(memory),
      [](std::byte* p) { ::operator delete(p, kAlignment); });
  return array;
}

std::span<std::byte> Array::bytes() {
  if (!storage) return {};
  return {storage.get(), static_cast<size_t>(*ArrayBytes(type, shape))};
}

std::span<const std::byte> Array::bytes() const {
  if (!storage) return {};
  return {storage.get(), static_cast<size_t>(*ArrayBytes(type, shape))};
}

}  // namespace mxc::runtime
