// SPDX-License-Identifier: Apache-2.0
// Where a server keeps values, and what it makes of gradients.
#pragma once

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
  virtual Status Update(uint32_t key, std::span<const float> gradient,
                        double rate) = 0;
  // All memory that an update of the key writes, or of one that is not trained
  // its value: what a journal keeps.
  virtual std::vector<std::span<std::byte>> Parts(uint32_t key) {
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
  Status Update(uint32_t key, std::span<const float> gradient,
                double) override {
    const Bytes bytes = std::as_bytes(gradient);
    values_[key].assign(bytes.begin(), bytes.end());
    return {};
  }

 private:
  std::vector<std::vector<std::byte>> values_;
};

}  // namespace mxc::kvstore
