// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/multi_update.h"

namespace mxc {

std::optional<std::string> CheckLengths(std::initializer_list<ListLength> lists,
                                        int64_t weights) {
  for (const ListLength& list : lists) {
    if (std::cmp_equal(list.length, weights)) continue;
    return fmt::format("C1: {} has {} numbers for {} weights", list.name,
                       list.length, weights);
  }
  return std::nullopt;
}

}  // namespace mxc
