// SPDX-License-Identifier: Apache-2.0
// The states of an artifact: those of all its entries, each name once, with
// places in the state region.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "ir/support/result.h"

namespace mxc {

class StateTable {
 public:
  struct Row {
    const Buffer* buffer;  // of the first entry that has it
    // The bytes before the first run, of any entry; null: zeros.
    const Buffer* initial = nullptr;
    int64_t offset = 0;
  };

  // In the order in which the entries name them. The table points into
  // `entries`. Fails where a state has different types in two entries.
  static Result<StateTable> Collect(std::span<const Program> entries);

  const std::vector<Row>& rows() const { return rows_; }
  int64_t region_bytes() const { return region_bytes_; }
  size_t IndexOf(const Buffer& state) const { return index_.at(state.name); }

 private:
  std::vector<Row> rows_;
  std::map<std::string, size_t> index_;
  int64_t region_bytes_ = 0;
};

}  // namespace mxc
