// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/recordings.h"

#include <algorithm>
#include <utility>

namespace mxc::runtime {

const Recording* Recordings::Find(std::span<const std::byte* const> addresses) {
  const auto found = std::ranges::find_if(rows_, [&](const Row& row) {
    return std::ranges::equal(row.addresses, addresses);
  });
  if (found == rows_.end()) return nullptr;
  std::rotate(rows_.begin(), found, found + 1);
  return rows_.front().recording.get();
}

const Recording& Recordings::Keep(std::span<const std::byte* const> addresses,
                                  std::unique_ptr<Recording> recording) {
  if (rows_.size() == kMost) rows_.pop_back();
  rows_.insert(rows_.begin(),
               Row{{addresses.begin(), addresses.end()}, std::move(recording)});
  return *rows_.front().recording;
}

}  // namespace mxc::runtime
