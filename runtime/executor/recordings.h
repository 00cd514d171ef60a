// SPDX-License-Identifier: Apache-2.0
// What a walk told the stream, for each set of addresses that the caller's
// tensors have had: a caller who goes round among a few buffers of its own pays
// for a recording once for each.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"

namespace mxc::runtime {

class Recordings {
 public:
  // Null: none of these addresses. Stays until the next Keep.
  const Recording* Find(std::span<const std::byte* const> addresses);
  // In place of the one that was found longest ago, where there are kMost.
  // Nothing may run.
  const Recording& Keep(std::span<const std::byte* const> addresses,
                        std::unique_ptr<Recording> recording);

  static constexpr size_t kMost = 16;

 private:
  struct Row {
    std::vector<const std::byte*> addresses;
    std::unique_ptr<Recording> recording;
  };
  std::vector<Row> rows_;  // the one that was found last is the first
};

}  // namespace mxc::runtime
