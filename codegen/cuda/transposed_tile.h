// SPDX-License-Identifier: Apache-2.0
// Which reads of a map a block of a device turns in shared memory
// (transpose_kernel.h), and the tile that it has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "codegen/loops/map_nests.h"
#include "codegen/schedule/loop_nest.h"
#include "ir/program/expr.h"

namespace mxc {

// An operand's elements at one index, and where their tile begins.
struct StagedLoad {
  Expr load;
  DType dtype = DType::kF32;  // in memory
  int64_t begin = 0;          // bytes into shared memory

  int64_t element_bytes() const { return SizeOf(dtype); }
};

// Blocks have tiles of `columns` of the output's rows by `rows` along the axis
// that is read. A vector of the output lies along a row of columns.
struct TransposedTile {
  std::shared_ptr<const MapNests> map;  // of one nest
  int across = -1;  // of the nest's loops: along which the loads run
  std::vector<StagedLoad> loads;
  int lanes = 1;
  int64_t columns = 0, rows = 0;
  int64_t shared_bytes = 0;
  int64_t blocks = 0;

  const LoopNest& nest() const { return map->nests[0]; }
  const LoopDim& lane() const { return nest().dims[nest().lane_dim]; }
  const LoopDim& read() const { return nest().dims[across]; }
  // Between rows of the tile, in bytes.
  int64_t pitch(const StagedLoad& load) const;
  int threads() const;
};

// Empty where nothing is read so, where rows are so short that reading across
// costs no more, and where the map is several nests or has reductions.
std::optional<TransposedTile> TransposedTileOf(
    std::shared_ptr<const MapNests> map);

}  // namespace mxc
