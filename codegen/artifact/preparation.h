// SPDX-License-Identifier: Apache-2.0
// Which constants an artifact transforms when it is opened (MakePreparation),
// and where they lie then.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// Constants by what they are transformed from and into.
class PreparedConstants {
 public:
  PreparedConstants() = default;
  // What the last of the entries prepares, if that is a preparation. Points
  // into it.
  static PreparedConstants Of(std::span<const Program> entries);

  int64_t region_bytes() const { return region_bytes_; }
  // In the prepared region; nothing if the file has the constant ready.
  std::optional<int64_t> OffsetOf(const Buffer& constant) const;

  // Both must outlive this.
  void Add(const Buffer& constant, const Layout& layout, int64_t offset);
  bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    const Buffer* constant;
    const Layout* layout;
    int64_t offset;
  };
  using Key = std::pair<uint64_t, int64_t>;  // checksum and bytes
  static Key KeyOf(const Buffer& constant);

  std::multimap<Key, Row> rows_;
  int64_t region_bytes_ = 0;
};

}  // namespace mxc
