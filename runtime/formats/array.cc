// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/array.h"

#include <algorithm>
#include <new>

namespace mxc::runtime {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

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
