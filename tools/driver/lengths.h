// SPDX-License-Identifier: Apache-2.0
// Which lengths of sequences get entries where a network takes any up to a bound.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/request.h"

namespace mxc {

// Where several lengths are open, an artifact has no more entries than this for
// each batch.
inline constexpr size_t kMostEntries = 128;

// "512", or "S=512,T=128".
Result<Lengths> ParseLengths(std::string_view text);

// From `most` down: the entry that takes all is the one that nobody names. Of each
// length `rungs` that are no longer than its bound, and that; where there are none,
// of one length some 6 % apart, of several all pairs, triples … of lengths as far
// apart as kMostEntries allows. Fails where the longest of `rungs` is not the only
// length's bound.
Result<std::vector<Lengths>> LengthsUpTo(const Lengths& most,
                                         std::vector<int64_t> rungs);

}  // namespace mxc
