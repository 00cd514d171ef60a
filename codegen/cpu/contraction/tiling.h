// SPDX-License-Identifier: Apache-2.0
// How a nest is cut: register tiles, blocks of the reduction, tasks. Pure
// arithmetic on a Nest and a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/cpu_machine.h"

namespace mxc::contraction {

// The accumulators of a micro-kernel: pixels × vectors of output channels.
struct RegisterTile {
  int pixels = 1, vectors = 1;
};

// The most pixels that fit beside `vectors` weight vectors and a broadcast.
int MaxPixels(const CpuMachine& machine, int vectors);

// The tile, with as many pixels as fit where a unit adds to data (dot_unit.h).
RegisterTile DotTile(const CpuMachine& machine, const ProductUnit& unit,
                     RegisterTile tile);
// The part of a unit's instructions that multiply data by weights: others add to
// data, and add up what that is too much. Some processors' ports add to data while
// others multiply: half of those instructions count.
double DotEfficiency(const ProductUnit& unit, RegisterTile tile);

// The tile, with as many pixels as the processor itself has registers for, which may
// take a vector in several: what the tile is decides in no order.
RegisterTile HeldTile(const CpuMachine& machine, RegisterTile tile);

// Of a product of so many vectors: those of a last, short group of tiles, by itself
// too few sums to keep the units busy, which the group before computes beside its
// own. 0: it has no registers for them.
int JoinedVectors(const CpuMachine& machine, RegisterTile tile,
                  int64_t vectors);

// The best tile for pixels (rows × columns) and vectors of output channels.
RegisterTile ChooseTile(const CpuMachine& machine, int64_t rows,
                        int64_t columns, int64_t vectors);
// The same for a product of so many rows, which lie apart from each other, with
// whole panels of so many vectors side by side.
RegisterTile ChooseRowTile(const CpuMachine& machine, int64_t rows,
                           int64_t vectors, int panel_vectors);
// Part of the peak rate that the tile reaches there, 0 … 1; of a product, where
// last vectors may join.
double TileEfficiency(const CpuMachine& machine, RegisterTile tile,
                      int64_t rows, int64_t columns, int64_t vectors);
double RowTileEfficiency(const CpuMachine& machine, RegisterTile tile,
                         int64_t rows, int64_t vectors);

// `count` tiles side by side from column `first`, each `width` columns by
// `rows` rows.
struct TileRun {
  int64_t first = 0, count = 0, width = 1, rows = 1;
};
// Cuts the columns into tiles of nearly equal width; narrow ones take several
// rows, all of them `least_rows` if there are. One or two runs.
std::vector<TileRun> SplitPixels(int64_t rows, int64_t columns, int pixels,
                                 int least_rows = 1);
// The tiles of so many rows.
int64_t CountTiles(const std::vector<TileRun>& runs, int64_t rows);

// Slowest over average share of n things that are cut into `chunks`.
double Unevenness(int64_t n, int64_t chunks);
// The part of the time for which threads wait at the end of a step of so many
// equal tasks, on average over the usual numbers of threads.
double Waiting(int64_t tasks);

// The fixed grid: groups and batch × chunks of channels × chunks of pixels.
struct Tasks {
  enum class Deal { kColumnTiles, kRows, kPlanes };
  int64_t channel_chunks = 1;  // of the vector groups
  int64_t pixel_chunks = 1;    // of what is dealt
  Deal deal = Deal::kColumnTiles;
  // Tasks in sequence, which one thread gets, share data; else weights.
  bool channels_innermost = false;
};
// Returns whether they should. The data were written by the same deal of an
// earlier step: what another thread wrote comes from its cache at less than
// half of the speed at which weights come from memory, and is not prefetched as
// well.
bool DataOverWeights(double data_bytes, double weight_bytes);
// For tiles of so many vectors.
Tasks ChooseTasks(const CpuMachine& machine, const Nest& nest, int tile_vectors,
                  int64_t column_tiles);

// Iterations of main.axes[0] after which accumulators are put down, so that the
// part of the panels that a tile of so many vectors reads stays in the first
// cache; its extent if it is never cut.
int64_t ChooseStepBlock(const CpuMachine& machine, const Nest& nest,
                        int tile_vectors);

}  // namespace mxc::contraction
