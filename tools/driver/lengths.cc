// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/lengths.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace mxc {
namespace {

// From one to the next it is no more than a sixteenth.
std::vector<int64_t> Rungs(int64_t most) {
  constexpr int64_t kPart = 16;
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length < most;
       length += std::max<int64_t>(length / kPart, 1)) {
    lengths.push_back(length);
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
