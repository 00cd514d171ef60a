// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs that are as long as the caller says, of an entry that has room
// for more (mxc_set_length).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/api/handles.h"

namespace mxc::runtime {

// The bytes of a tensor that count: `count` runs of `size` bytes, `stride` apart.
// A tensor without an open axis is one run.
struct OpenBytes {
  size_t count = 1, size = 0, stride = 0;

  size_t total() const { return count * size; }
  // From the entry's memory, and into it.
  void Gather(const std::byte* from, std::byte* to) const;
  void Scatter(const std::byte* from, std::byte* to) const;
};
OpenBytes OpenBytesOf(const mxc_executor& executor, uint32_t buffer);

// Which input of the entry says how long open axes are; none: there are none.
std::optional<size_t> LengthInput(const mxc_executor& executor);
Status SetLength(mxc_executor& executor, int64_t length);

}  // namespace mxc::runtime
