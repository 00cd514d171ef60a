// SPDX-License-Identifier: Apache-2.0
// Which lengths of sequences get entries where a network takes any up to a bound.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/request.h"

namespace mxc {

// `lengths`, or where there are none lengths some 6 % apart, from `most` down: the
// entry that takes all is the one that nobody names. Fails where the longest of
// `lengths` is not `most`.
Result<std::vector<int64_t>> LengthsUpTo(int64_t most,
                                         std::vector<int64_t> lengths);

}  // namespace mxc
