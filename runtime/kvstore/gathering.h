// SPDX-License-Identifier: Apache-2.0
// The gradients of one key until it is updated by them. They are received where
// they stay, and added in the order of ranks as far as all have come: a sum has
// the same bytes whatever came first, and is there when the last bytes are.
// Of a sparse key they are rows, which are added when all have come.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "runtime/kvstore/body.h"
#include "runtime/kvstore/compression.h"
#include "runtime/kvstore/frame.h"
#include "runtime/kvstore/keys.h"
#include "runtime/kvstore/rows.h"

namespace mxc::kvstore {

class Gathering {
 public:
  // A worker's gradient, encoded.
  struct Part {
    Header push;
    std::vector<std::byte> bytes;
    uint64_t have = 0;  // of them; what has come once is not written again

    bool whole() const { return have == bytes.size(); }
  };
  using Parts = std::map<uint32_t, Part>;  // by rank

  // Rows are not compressed.
  Gathering(const Compression& compression, const KeySpec& key,
            Buffers& buffers);

  // Where this payload belongs; empty: it has come before, or is not the next.
  // The memory is there until the worker's part is whole or forgotten.
  std::span<std::byte> Place(uint32_t worker, const Header& push);
  // It has come, there or elsewhere. False: one before it is missing.
  bool Take(uint32_t worker, const Frame& payload);
  // What has not come as a whole does not count.
  void Forget(uint32_t worker);

  const Parts& parts() const { return parts_; }
  // Returns whether all members' are whole, and there is one.
  bool complete(const std::set<uint32_t>& members) const;
  // Adds what all have sent so far; `mean`: divided by how many they are.
  void Add(const std::set<uint32_t>& members, bool mean);
  // The sum, once complete and added.
  std::span<const float> sum() const;
  // One that is whole, alone; until the next call.
  std::span<const float> Decoded(uint32_t worker);
  // The same of a sparse key. Rows of one that is whole are checked first.
  Status CheckRows(uint32_t worker) const;
  OwnRows RowsSum(bool mean) const;
  Rows RowsOf(uint32_t worker) const;
  // Whether it has or not.
  void Drop(uint32_t worker);
  // They have served; a worker's, or all.
  void Release(uint32_t worker);
  void Clear();

 private:
  uint64_t bytes() const { return EncodedBytes(compression_.codec, elements_); }
  bool sparse() const { return width_ > 0; }
  std::vector<std::byte> Take(uint64_t bytes);
  void Give(std::vector<std::byte> buffer);
  // What is not encoded need not be copied.
  bool plain() const { return compression_.codec == Codec::kNone; }
  void AddPlain(std::span<float> to);
  void AddPart(const Part& part, bool first, std::span<float> to);
  std::span<float> sums();

  const Compression compression_;
  const uint64_t elements_, width_;
  Buffers& buffers_;
  Parts parts_;
  std::vector<std::byte> sum_;  // of floats
  uint64_t added_ = 0;          // encoded bytes of each part
};

}  // namespace mxc::kvstore
