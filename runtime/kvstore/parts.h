// SPDX-License-Identifier: Apache-2.0
// Keys as servers have them: a large one is cut into a part for each server, as
// MXNet cuts arrays of MXNET_KVSTORE_BIGARRAY_BOUND elements. A part is a key of
// its own to store, journal and wire; who uses a Client or makes a Shelf knows
// keys alone.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kvstore/settings.h"
#include "runtime/kvstore/shelf.h"

namespace mxc::kvstore {

struct Parts {
  struct Part {
    uint32_t key = 0;
    uint64_t begin = 0;   // element of the key, where the part begins
    uint64_t offset = 0;  // the same in bytes
    uint32_t server = 0;  // where it lives
  };

  // Of the settings: how many servers, which keys are cut, who gets the others.
  Parts(const KeyTable& keys, const Settings& settings);

  KeyTable table;            // of parts: what frames number
  std::vector<Part> parts;   // of each row
  std::vector<uint32_t> of;  // of each key its first row; then the last's end
};

// Parts of what another shelf keeps as a whole.
class PartShelf final : public Shelf {
 public:
  // Both must outlive it.
  PartShelf(const Parts& parts, Shelf& whole) : parts_(parts), whole_(whole) {}

  std::span<std::byte> Value(uint32_t part) override;
  void OnWritten(uint32_t part) override;
  Status Update(uint32_t part, uint64_t first, std::span<const float> gradient,
                double rate) override;
  Status UpdateRows(uint32_t part, const Rows& rows, double rate) override;
  bool assigns() const override { return whole_.assigns(); }
  std::vector<std::span<std::byte>> Kept(uint32_t part, uint64_t) override;

 private:
  const Parts& parts_;
  Shelf& whole_;
};

}  // namespace mxc::kvstore
