// SPDX-License-Identifier: Apache-2.0
// Bytes of bodies and answers, and the memory that all of them may take.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace mxc::serve {

// What all connections together hold. Used by several threads.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : bytes_(bytes) {}

  // Returns whether there is room for them; then they are taken.
  bool Take(uint64_t bytes) {
    if (taken_.fetch_add(bytes) + bytes <= bytes_) return true;
    taken_ -= bytes;
    return false;
  }
  void Give(uint64_t bytes) { taken_ -= bytes; }
  uint64_t taken() const { return taken_; }

 private:
  const uint64_t bytes_;
  std::atomic<uint64_t> taken_ = 0;
};

// Grows by realloc, which moves large blocks without copying: no moment at which
// a body is there twice. What it holds is taken from the budget.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  explicit ByteBuffer(MemoryBudget& budget) : budget_(&budget) {}
  ByteBuffer(ByteBuffer&& from) noexcept { Swap(from); }
  ByteBuffer& operator=(ByteBuffer&& from) noexcept {
    Swap(from);
    return *this;
  }
  ~ByteBuffer() {
    if (budget_ != nullptr) budget_->Give(size_);
  }

  // False where there is no memory for them.
  bool Append(const void* data, size_t count) {
    if (budget_ == nullptr || !budget_->Take(count)) return false;
    if (!Reserve(size_ + count)) {
      budget_->Give(count);
      return false;
    }
    std::memcpy(memory_.get() + size_, data, count);
    size_ += count;
    return true;
  }

  size_t size() const { return size_; }
  std::string_view view() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };

  bool Reserve(size_t wanted) {
    if (wanted <= capacity_) return true;
    const size_t capacity = std::max(wanted, capacity_ + capacity_ / 2);
    void* grown = std::realloc(memory_.get(), capacity);
    if (grown == nullptr) return false;
    (void)memory_.release();
    memory_.reset(static_cast<char*>(grown));
    capacity_ = capacity;
    return true;
  }
  void Swap(ByteBuffer& other) {
    std::swap(budget_, other.budget_);
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  MemoryBudget* budget_ = nullptr;
  std::unique_ptr<char, Free> memory_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace mxc::serve
