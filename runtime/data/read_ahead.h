// SPDX-License-Identifier: Apache-2.0
// Tells a source which samples will be read, so far ahead that 32 MB of them may
// be on their way or wait to be read.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>

#include "runtime/data/source.h"

namespace mxc::data {

class ReadAhead {
 public:
  static constexpr uint64_t kMostBytes = 32'000'000;

  // Where a sample stands in the order in which it is read.
  struct Place {
    int64_t epoch = 0, batch = 0, row = 0;
    auto operator<=>(const Place&) const = default;
  };

  // Returns false where no more may be told.
  bool Tell(const Source& source, int64_t sample, const Place& place) {
    if (bytes_ >= kMostBytes) return false;
    const uint64_t bytes = source.WillRead(sample);
    if (bytes > 0) told_.push_back({place, bytes});
    bytes_ += bytes;
    return true;
  }
  // What stands before has been read.
  void Pass(const Place& place) {
    while (!told_.empty() && told_.front().place < place) {
      bytes_ -= told_.front().bytes;
      told_.pop_front();
    }
  }
  void Clear() {
    told_.clear();
    bytes_ = 0;
  }

 private:
  struct Told {
    Place place;
    uint64_t bytes;
  };

  std::deque<Told> told_;
  uint64_t bytes_ = 0;
};

}  // namespace mxc::data
