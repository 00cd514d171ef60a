// SPDX-License-Identifier: Apache-2.0
// The rows of a table's gradient that a step has used.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/artifact/communication.h"
#include "runtime/executor/executor.h"
#include "runtime/kvstore/rows.h"

namespace mxc::train {

// Reads a table's gradient from an exchange's outputs after a run: the rows that
// it has, each once and ascending. A whole gradient has all rows.
kvstore::OwnRows UsedRows(const runtime::Executor& executor,
                          const runtime::Exchange& exchange);

// Copies those rows of the table.
kvstore::OwnRows PickRows(std::vector<uint64_t> numbers, const float* table,
                          uint64_t width);

}  // namespace mxc::train
