// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/array.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/artifact/tables.h"
#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 47;
constexpr size_t kAlignment = 64;
// Smaller ones have their memory in one block with the chunk.
constexpr uint64_t kLateBytes = 16 << 10;

std::string ShapeText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims) {
    text += (text.empty() ? "" : ",") + std::to_string(dim);
  }
  return "[" + text + "]";
}

// The first place that is aligned, of a block that has kAlignment bytes more.
std::byte* AlignedIn(std::byte* block) {
  return block + (kAlignment - reinterpret_cast<uintptr_t>(block) % kAlignment);
}

Status NoMemory(uint64_t bytes) {
  return Fail(StatusCode::kOutOfMemory, "no memory for an array of %llu bytes",
              static_cast<unsigned long long>(bytes));
}

// For an object and bytes behind it in one block. By malloc, which keeps small
// ones at hand for its next caller, as aligned_alloc does not.
template <class T>
struct AllocatorWithRoom {
  using value_type = T;

  AllocatorWithRoom(uint64_t more_bytes, std::byte** more_at)
      : bytes(more_bytes), at(more_at) {}
  template <class U>
  AllocatorWithRoom(const AllocatorWithRoom<U>& other)  // NOLINT: a conversion
      : bytes(other.bytes), at(other.at) {}

  T* allocate(size_t count) {
    void* const block = std::malloc(count * sizeof(T) + bytes);
    if (block == nullptr) throw std::bad_alloc();
    *at = static_cast<std::byte*>(block) + count * sizeof(T);
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t) { std::free(block); }
  template <class U>
  bool operator==(const AllocatorWithRoom<U>&) const {
    return true;
  }

  uint64_t bytes;
  std::byte** at;  // where these are told to lie
};

}  // namespace

StatusOr<ArrayType> ArrayType::Of(int dtype, std::span<const int64_t> dims) {
  if (dtype < 0 || dtype > UINT8_MAX ||
      ElementSize(static_cast<uint8_t>(dtype)) == 0) {
    return Fail(StatusCode::kInvalidArgument, "there is no element type %d",
                dtype);
  }
  const std::string shape = ShapeText(dims);
  if (dims.size() > MXC_MAX_RANK) {
    return Fail(StatusCode::kInvalidArgument,
                "an array of shape %s has %zu axes, at most %d are possible",
                shape.c_str(), dims.size(), MXC_MAX_RANK);
  }
  ArrayType type;
  type.dtype = static_cast<uint8_t>(dtype);
  type.rank = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), type.dims.begin());
  uint64_t bytes = ElementSize(type.dtype);
  for (const int64_t dim : dims) {
    if (dim < 1) {
      return Fail(StatusCode::kInvalidArgument,
                  "an array of shape %s has no elements", shape.c_str());
    }
    if (static_cast<uint64_t>(dim) > kMostBytes / bytes) {
      return Fail(StatusCode::kInvalidArgument,
                  "an array of shape %s has more than 2^47 bytes",
                  shape.c_str());
    }
    bytes *= static_cast<uint64_t>(dim);
  }
  return type;
}

int64_t ArrayType::elements() const {
  int64_t elements = 1;
  for (const int64_t dim : extents()) elements *= dim;
  return elements;
}

uint64_t ArrayType::bytes() const {
  return static_cast<uint64_t>(elements()) * ElementSize(dtype);
}

std::string ArrayType::Text() const {
  return std::string(ElementName(static_cast<ElementType>(dtype))) +
         ShapeText(extents());
}

uint64_t Chunk::GiveId() const {
  static std::atomic<uint64_t> last{0};
  const uint64_t next = last.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t id = 0;
  return id_.compare_exchange_strong(id, next) ? next : id;
}

StatusOr<std::shared_ptr<Chunk>> Chunk::Allocate(uint64_t bytes) {
  std::byte* rest = nullptr;
  try {
    if (bytes >= kLateBytes) {
      return std::make_shared<Chunk>(nullptr, bytes, nullptr);
    }
    auto chunk = std::allocate_shared<Chunk>(
        AllocatorWithRoom<Chunk>{bytes + kAlignment, &rest}, nullptr, bytes,
        nullptr);
    chunk->data_.store(AlignedIn(rest), std::memory_order_relaxed);
    return chunk;
  } catch (const std::bad_alloc&) {
    return NoMemory(bytes);
  }
}

Status Chunk::AllocateLate() {
  // Two readers of what nobody has written may come at once.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (data() != nullptr) return {};
  late_ = std::malloc(bytes_ + kAlignment);
  if (late_ == nullptr) return NoMemory(bytes_);
  data_.store(AlignedIn(static_cast<std::byte*>(late_)),
              std::memory_order_release);
  return {};
}

Chunk::~Chunk() { std::free(late_); }

std::shared_ptr<Chunk> Chunk::Over(std::byte* data, uint64_t bytes,
                                   std::shared_ptr<const void> owner) {
  return std::make_shared<Chunk>(data, bytes, std::move(owner));
}

StatusOr<NDArray> NDArray::Make(const ArrayType& type) {
  MXC_RT_ASSIGN(std::shared_ptr<Chunk> chunk, Chunk::Allocate(type.bytes()));
  return NDArray(type, std::move(chunk));
}

StatusOr<NDArray> NDArray::Reshaped(std::span<const int64_t> dims) const {
  MXC_RT_ASSIGN(const ArrayType type, ArrayType::Of(type_.dtype, dims));
  if (type.elements() != type_.elements()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s cannot become %s: it has other elements",
                type_.Text().c_str(), type.Text().c_str());
  }
  return NDArray(type, chunk_, offset_);
}

StatusOr<NDArray> NDArray::Sliced(int64_t begin, int64_t end) const {
  if (type_.rank == 0 || begin < 0 || end <= begin || end > type_.dims[0]) {
    return Fail(StatusCode::kInvalidArgument,
                "%s has no rows from %lld to before %lld", type_.Text().c_str(),
                static_cast<long long>(begin), static_cast<long long>(end));
  }
  const uint64_t row = type_.bytes() / static_cast<uint64_t>(type_.dims[0]);
  ArrayType type = type_;
  type.dims[0] = end - begin;
  return NDArray(type, chunk_, offset_ + static_cast<uint64_t>(begin) * row);
}

std::vector<const NDArray*> RefsTo(std::span<const NDArray> arrays) {
  std::vector<const NDArray*> refs;
  refs.reserve(arrays.size());
  for (const NDArray& array : arrays) refs.push_back(&array);
  return refs;
}

std::vector<ArrayType> TypesOf(ArrayRefs arrays) {
  std::vector<ArrayType> types;
  for (const NDArray* array : arrays) types.push_back(array->type());
  return types;
}

}  // namespace mxc::runtime
