// SPDX-License-Identifier: Apache-2.0
// The rows of a table's gradient that a step has used.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/executor/executor.h"
#include "runtime/kvstore/rows.h"

namespace mxc::train {

// What an output of the last run says of the rows of a table that has so many,
// each once and ascending; `output` -1: all.
std::vector<uint64_t> UsedRows(const runtime::Executor& executor,
                               int64_t output, uint64_t rows);

// Copies those rows of the table.
kvstore::OwnRows PickRows(std::vector<uint64_t> numbers, const float* table,
                          uint64_t width);

}  // namespace mxc::train
