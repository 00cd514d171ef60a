// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs that are as long as the caller says, of an entry that has room
// for more (mxc_set_lengths).
#pragma once

#include <cstdint>
#include <span>

#include "runtime/api/handles.h"
#include "runtime/base/counted_bytes.h"

namespace mxc::runtime {

// Of an input or an output with the lengths that were set.
CountedBytes CountedBytesOf(const mxc_executor& executor, uint32_t buffer);

// In the order of Tables::Lengths.
Status SetLengths(mxc_executor& executor, std::span<const int64_t> lengths);

}  // namespace mxc::runtime
