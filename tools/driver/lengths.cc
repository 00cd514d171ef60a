// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/lengths.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace mxc {
namespace {

// From one to the next it is no more than a sixteenth, or 4 entries, as many rows
// as a product computes at once.
std::vector<int64_t> Rungs(int64_t most) {
  constexpr int64_t kPart = 16, kAtOnce = 4;
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length < most;) {
    lengths.push_back(length);
    const int64_t next = length + std::max(length / kPart, kAtOnce);
    length = next - next % kAtOnce;
  }
  lengths.push_back(most);
  return lengths;
}

}  // namespace

Result<std::vector<int64_t>> LengthsUpTo(int64_t most,
                                         std::vector<int64_t> lengths) {
  if (lengths.empty()) lengths = Rungs(most);
  std::ranges::sort(lengths, std::greater());
  if (lengths.front() == most) return lengths;
  return Error({}, "the longest --bucket is {}, but --length {} is the most",
               lengths.front(), most);
}

}  // namespace mxc
