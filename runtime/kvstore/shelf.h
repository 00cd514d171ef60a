// SPDX-License-Identifier: Apache-2.0
// Where a server keeps values, and what it makes of gradients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kvstore/keys.h"
#include "runtime/kvstore/rows.h"

namespace mxc::kvstore {

class Shelf {
 public:
  virtual ~Shelf() = default;

  // The value's memory, for as long as the shelf lives.
  virtual std::span<std::byte> Value(uint32_t key) = 0;
  // Value has just been written as a whole.
  virtual void OnWritten(uint32_t key) = 0;
  // By the gradient of some elements of the key, from `first` on: all of them,
  // or always the same ones where the key is cut.
  virtual Status Update(uint32_t key, uint64_t first,
                        std::span<const float> gradient, double rate) = 0;
  // The same of a sparse key, by some rows, which are merged: the others stay
  // as they are, and so does what is kept for them (MXNet's lazy_update). Rows
  // that lie side by side are one Update.
  virtual Status UpdateRows(uint32_t key, const Rows& rows, double rate);
  // Returns whether an update makes the gradient the value, of rows that have
  // none 0.
  virtual bool assigns() const { return false; }
  // All memory that an update of the key writes, or of one that is not trained
  // its value: what a journal keeps. What has the value's size is one element
  // for each of the value's. Of a key that is cut, for its part from `first` on.
  virtual std::vector<std::span<std::byte>> Kept(uint32_t key,
                                                 uint64_t /*first*/) {
    return {Value(key)};
  }
};

inline Status Shelf::UpdateRows(uint32_t key, const Rows& rows, double rate) {
  const size_t count = rows.numbers.size();
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    do {
      ++end;
    } while (end < count && rows.numbers[end] == rows.numbers[end - 1] + 1);
    const size_t width = rows.elements.size() / count;
    MXC_RT_RETURN_IF_ERROR(Update(
        key, rows.numbers[begin] * width,
        rows.elements.subspan(begin * width, (end - begin) * width), rate));
  }
  return {};
}

// Without an optimizer: a value is what was pushed last (MXNet's dist_sync
// without an updater).
class PlainShelf final : public Shelf {
 public:
  explicit PlainShelf(const KeyTable& keys) {
    for (const KeySpec& key : keys) values_.emplace_back(key.bytes);
  }

  std::span<std::byte> Value(uint32_t key) override { return values_[key]; }
  void OnWritten(uint32_t) override {}
  Status Update(uint32_t key, uint64_t first, std::span<const float> gradient,
                double) override {
    CopyBytes(std::as_bytes(gradient),
              Value(key).subspan(first * sizeof(float)));
    return {};
  }
  // Rows that nobody has pushed are 0.
  Status UpdateRows(uint32_t key, const Rows& rows, double rate) override {
    std::ranges::fill(Value(key), std::byte{});
    return Shelf::UpdateRows(key, rows, rate);
  }
  bool assigns() const override { return true; }

 private:
  std::vector<std::vector<std::byte>> values_;
};

}  // namespace mxc::kvstore
