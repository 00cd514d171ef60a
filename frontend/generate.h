// SPDX-License-Identifier: Apache-2.0
// Networks that write texts token by token, and see the rows of the runs before.
#pragma once

#include <cstdint>
#include <optional>

#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

inline constexpr const char* kPositionInput = "position";
inline constexpr const char* kStreamInput = "stream";

// Has every operator `cache` keep its rows, in a state for all texts, and
// `positions` count on from them (ir/ops/nn/sequence/cache_rows.cc,
// positions_from.cc). New inputs say of each text of the batch where its first
// row stands, "position", and which text it is, "stream", where the batch is
// chosen:
//   position  i32[n]   0 at the beginning; outside of what is kept, the
//                      text's rows are dropped and the others' stay as they are
//   stream    i32[n]   0 … streams - 1
// Before shapes are set. Fails where nothing keeps rows, or fewer than come at
// once; sets generation.rows where that is open.
Status KeepRows(Generation& generation, Graph& graph);

// The most rows of a text that all operators of such a network keep; nothing:
// KeepRows has made none of it.
std::optional<int64_t> RowsKept(const Graph& graph);

// Gives the axes that inputs leave open, behind the batch, that many entries.
void CloseLengths(int64_t entries, Graph& graph);

}  // namespace mxc
