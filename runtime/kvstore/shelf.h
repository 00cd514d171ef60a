// SPDX-License-Identifier: Apache-2.0
// Where a server keeps values, and what it makes of gradients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kvstore/keys.h"

namespace mxc::kvstore {

class Shelf {
 public:
  virtual ~Shelf() = default;

  // The value's memory, for as long as the shelf lives.
  virtual std::span<std::byte> Value(uint32_t key) = 0;
  // Value has just been written as a whole.
  virtual void OnWritten(uint32_t key) = 0;
  // By the gradient of some elements of the key, from `first` on: all of them,
  // or always the same ones where the key is cut over servers.
  virtual Status Update(uint32_t key, uint64_t first,
                        std::span<const float> gradient, double rate) = 0;
  // All memory that an update of the key writes, or of one that is not trained
  // its value: what a journal keeps. What has the value's size is one element
  // for each of the value's.
  virtual std::vector<std::span<std::byte>> Kept(uint32_t key) {
    return {Value(key)};
  }
};

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
    std::ranges::copy(std::as_bytes(gradient),
                      Value(key).subspan(first * sizeof(float)).begin());
    return {};
  }

 private:
  std::vector<std::vector<std::byte>> values_;
};

}  // namespace mxc::kvstore
