// SPDX-License-Identifier: Apache-2.0
// Arrays: types, shapes, and the memory that several of them may share. Values
// come and go by the engine; an array says whose variable they have.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/status.h"
#include "runtime/engine/variable.h"

namespace mxc::runtime {

// Element type and shape, dense and row-major; without memory of its own.
struct ArrayType {
  uint8_t dtype = 0;  // a type flag of runtime/abi/dtype.def
  uint8_t rank = 0;
  std::array<int64_t, MXC_MAX_RANK> dims = {};  // zeros behind the last axis

  // Fails with what no array can have: 9 axes, an extent of 0, no such type,
  // 2^47 bytes.
  static StatusOr<ArrayType> Of(int dtype, std::span<const int64_t> dims);
  // Of a row of tables, which were checked: mxc_buffer, mxc_state.
  template <class Row>
  static ArrayType OfRow(const Row& row) {
    ArrayType type{row.dtype, row.rank, {}};
    std::copy_n(row.dims, row.rank, type.dims.begin());
    return type;
  }

  std::span<const int64_t> extents() const { return {dims.data(), rank}; }
  int64_t elements() const;
  uint64_t bytes() const;
  std::string Text() const;  // "float32[2,3]"

  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

// Memory with the variable that orders its uses.
class Chunk {
 public:
  // What is in it is not defined. A large one has memory once somebody requires
  // it: of what is only computed within a program there is none.
  static StatusOr<std::shared_ptr<Chunk>> Allocate(uint64_t bytes);
  // Memory of somebody else, which `owner` keeps.
  static std::shared_ptr<Chunk> Over(std::byte* data, uint64_t bytes,
                                     std::shared_ptr<const void> owner);

  Chunk(std::byte* data, uint64_t bytes, std::shared_ptr<const void> owner)
      : data_(data), bytes_(bytes), owner_(std::move(owner)) {}
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk();

  // Of no other chunk of the process, also when this one is gone; never 0.
  uint64_t id() const {
    const uint64_t id = id_.load(std::memory_order_relaxed);
    return id != 0 ? id : GiveId();
  }
  // Has memory from here on, aligned to 64. Any thread.
  Status Require() { return data() != nullptr ? Status() : AllocateLate(); }
  // Null before it has memory.
  std::byte* data() const { return data_.load(std::memory_order_acquire); }
  uint64_t bytes() const { return bytes_; }
  Variable& variable() { return variable_; }
  // How often something was called that writes it.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  void CountWrite() { writes_.fetch_add(1, std::memory_order_relaxed); }
  // When a call has written it last, as LoopFinder counts; 0: none has.
  uint64_t written_at() const {
    return written_at_.load(std::memory_order_relaxed);
  }
  void SetWrittenAt(uint64_t when) {
    written_at_.store(when, std::memory_order_relaxed);
  }
  // Whether calls that wait to be run (Loops) use it.
  bool is_waited_with() const {
    return waiting_.load(std::memory_order_relaxed) != 0;
  }
  void CountWaiting(int more) {
    waiting_.fetch_add(more, std::memory_order_relaxed);
  }
  // Not allocated for the chunk: others may see it, too.
  bool is_foreign() const { return owner_ != nullptr; }

 private:
  uint64_t GiveId() const;
  Status AllocateLate();

  std::atomic<std::byte*> data_;
  const uint64_t bytes_;
  const std::shared_ptr<const void> owner_;
  mutable std::atomic<uint64_t> id_{0};  // 0: nobody has asked
  Variable variable_;
  std::atomic<uint64_t> writes_{0}, written_at_{0};
  std::atomic<int> waiting_{0};  // uses by calls
  void* late_ = nullptr;         // what AllocateLate has allocated
};

// A view of a chunk. Copies are the same array.
class NDArray {
 public:
  NDArray() = default;
  NDArray(ArrayType type, std::shared_ptr<Chunk> chunk, uint64_t offset = 0)
      : type_(type), chunk_(std::move(chunk)), offset_(offset) {}

  // Of a chunk of its own.
  static StatusOr<NDArray> Make(const ArrayType& type);

  const ArrayType& type() const { return type_; }
  // To be called before data(), by operations that have the variable.
  Status Require() const { return chunk_->Require(); }
  // Not to be touched but by these.
  std::byte* data() const { return chunk_->data() + offset_; }
  uint64_t offset() const { return offset_; }  // bytes, in the chunk
  Variable& variable() const { return chunk_->variable(); }
  const std::shared_ptr<Chunk>& chunk() const { return chunk_; }
  // How an operation that writes all of the array uses the variable.
  Access AccessToWrite() const {
    return type_.bytes() == chunk_->bytes() ? Access::kWrite : Access::kUpdate;
  }

  // The same elements under another shape.
  StatusOr<NDArray> Reshaped(std::span<const int64_t> dims) const;
  // Rows from `begin` to before `end` of the first axis.
  StatusOr<NDArray> Sliced(int64_t begin, int64_t end) const;

 private:
  ArrayType type_;
  std::shared_ptr<Chunk> chunk_;
  uint64_t offset_ = 0;  // bytes
};

// Arrays of somebody who has them as long as a call lasts.
using ArrayRefs = std::span<const NDArray* const>;
std::vector<const NDArray*> RefsTo(std::span<const NDArray> arrays);
std::vector<ArrayType> TypesOf(ArrayRefs arrays);

}  // namespace mxc::runtime
