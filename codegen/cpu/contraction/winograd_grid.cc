// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_grid.h"

#include <algorithm>
#include <set>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/plane_work.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/tiling.h"
#include "codegen/cpu/contraction/winograd_costs.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

TileAxis CutAxis(int64_t extent, int64_t outputs, int64_t window) {
  TileAxis axis;
  axis.tiles = DivideUp(extent, outputs);
  axis.each = {outputs, window};
  const int64_t beyond = axis.tiles * outputs - extent;
  axis.last = {outputs - beyond, window - beyond};
  return axis;
}

// The part of an axis' planes that its tiles are in.
double Needed(const TileAxis& axis) {
  const int64_t all = axis.tiles * axis.each.window;
  return 1 - Real(axis.each.window - axis.last.window) / Real(all);
}

// The sizes of nearly equal parts of n things, largest first.
std::vector<int64_t> PartSizes(int64_t n) {
  std::vector<int64_t> sizes;
  for (int64_t parts = 1; parts <= n; ++parts) {
    const int64_t size = DivideUp(n, parts);
    if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

// The grid, cut into blocks of all shapes; images first.
std::vector<WinogradGrid> Blocks(const WinogradGrid& grid) {
  std::vector<WinogradGrid> blocks;
  const auto add = [&](int64_t images, int64_t rows, int64_t columns) {
    if (images * rows * columns > kMostBlockTiles) return;
    WinogradGrid cut = grid;
    cut.images.size = images;
    cut.tile_rows.size = rows;
    cut.tile_columns.size = columns;
    cut.block_tiles = images * rows * columns;
    blocks.push_back(std::move(cut));
  };
  const int64_t rows = grid.rows.tiles, columns = grid.columns.tiles;
  for (const int64_t n : PartSizes(grid.images.extent)) add(n, rows, columns);
  for (const int64_t n : PartSizes(rows)) add(1, n, columns);
  for (const int64_t n : PartSizes(columns)) add(1, 1, n);
  return blocks;
}

}  // namespace

std::vector<int64_t> WinogradGrid::PlaneTiles() const {
  // Of an axis: parts that do not end it, then the part that does.
  const auto along = [](const Cut& cut, bool last_is_left_out) {
    std::set<int64_t> counts = {cut.last()};
    if (cut.parts() > 1) counts.insert(cut.size);
    if (last_is_left_out) counts.insert(cut.last() - 1);
    return counts;
  };
  std::set<int64_t> counts;
  for (const int64_t i : along(images, false)) {
    for (const int64_t j : along(tile_rows, rows.is_cut())) {
      for (const int64_t k : along(tile_columns, columns.is_cut())) {
        counts.insert(i * j * k);
      }
    }
  }
  counts.erase(0);
  return {counts.begin(), counts.end()};
}

WinogradGrid MakeWinogradGrid(const CpuMachine& machine, const Contraction& c,
                              const KernelChoice& choice) {
  const auto [lanes, register_tile] = TileOf(choice);
  const Extents tile = WinogradTiles(c, choice.algorithm);
  const Extents window = WinogradWindows(c, choice.algorithm);
  WinogradGrid whole;
  whole.rows = CutAxis(c.output[0], tile[0], window[0]);
  whole.columns = CutAxis(c.output[1], tile[1], window[1]);
  whole.images.extent = c.batch;
  whole.tile_rows.extent = whole.rows.tiles;
  whole.tile_columns.extent = whole.columns.tiles;
  whole.tiles = c.batch * whole.rows.tiles * whole.columns.tiles;
  const int64_t planes = window[0] * window[1];
  // In which an entry is written that is first transformed, a lane.
  const double write_cycles = static_cast<double>(SizeOf(c.types.sum)) *
                              machine.clock / machine.write_bytes_per_second;
  const PlaneWork work = {
      .dtype = c.types.sum,
      .planes = planes,
      .lanes = lanes,
      .in = c.in,
      .out = c.out,
      .tile = register_tile,
      .needed = Needed(whole.rows) * Needed(whole.columns),
      .data_cycles = Real(planes) *
                     (machine.transform_cycles + write_cycles * Real(lanes)),
      .output_cycles = Real(planes) * machine.transform_cycles};
  WinogradGrid best;
  double best_seconds = 0;
  for (WinogradGrid& grid : Blocks(whole)) {
    const int64_t count = grid.block_tiles;
    if (count > 1 && work.scratch_bytes(count) > machine.scratch_bytes)
      continue;
    const PlaneEstimate estimate =
        EstimatePlanes(machine, work, grid.tiles, count, grid.blocks());
    grid.seconds = estimate.data + estimate.rest;
    const double uneven = Real(grid.blocks() * count) / Real(grid.tiles);
    for (int64_t chunks = 1; chunks <= std::min(work.groups(), kMostChunks);
         ++chunks) {
      const double seconds =
          SecondsOfThreads(machine, estimate, grid.blocks(), chunks,
                           uneven * Unevenness(work.groups(), chunks));
      if (best_seconds != 0 && seconds >= best_seconds) continue;
      best_seconds = seconds;
      grid.channel_chunks = chunks;
      best = grid;
    }
  }
  best.data_plane = work.data_plane(best.block_tiles);
  best.product_plane = work.product_plane(best.block_tiles);
  best.scratch_bytes = work.scratch_bytes(best.block_tiles);
  return best;
}

}  // namespace mxc::contraction
