// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/winograd_grid.h"

#include <algorithm>
#include <set>

#include "codegen/contraction/algorithm.h"
#include "codegen/contraction/tiling.h"
#include "codegen/contraction/winograd_costs.h"

namespace mxc::contraction {
namespace {

// What products take besides multiply-adds; how many of these it takes to start
// and to put down a sum.
constexpr double kProductRate = 0.97;
constexpr int64_t kSumCost = 3;
// How fast weights come under the products, from memory or from the cache that
// cores share; what of the time for reading them again is not hidden; and what
// transformed data and products cost that do not stay in the second cache
// beside the weights that pass through it.
constexpr double kMemoryBytesPerSecond = 2.5e10, kCacheBytesPerSecond = 6e10;
constexpr double kSharedCacheBytes = 24 << 20;
constexpr double kAgainFromMemory = 6e10, kAgainFromCache = 4e11;
constexpr double kSpilledBytesPerSecond = 1e11;
constexpr double kScratchShare = 0.375;
// How fast transformed data are first written.
constexpr double kWrittenBytesPerSecond = 4e10;
// Numbers of threads that a grid should suit, and how much. Threads take tasks
// in so many portions each.
struct Threads {
  int64_t count;
  double weight;
};
constexpr Threads kThreads[] = {{1, 1}, {2, 1}, {4, 1}, {8, 0.25}};
constexpr int64_t kPortions = 4, kMostChunks = 16;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
double Real(int64_t x) { return static_cast<double>(x); }

struct Work {
  int64_t planes, lanes, in, out;
  RegisterTile tile;
  double needed;  // part of the products: planes leave tiles out

  int64_t panel_width() const { return lanes * tile.vectors; }
  int64_t in_blocks() const { return DivideUp(in, lanes); }
  int64_t out_vectors() const { return DivideUp(out, lanes); }
  int64_t groups() const { return DivideUp(out, panel_width()); }
  int64_t data_plane(int64_t tiles) const {
    return in_blocks() * tiles * lanes + kPlanePadding;
  }
  int64_t product_plane(int64_t tiles) const {
    return tiles * panel_width() + kPlanePadding;
  }
  int64_t scratch_bytes(int64_t tiles) const {
    return 4 * (planes * (data_plane(tiles) + product_plane(tiles)) +
                planes * lanes);
  }
};

// Estimated seconds on one thread: of the transforms of data, and of the rest.
struct Estimate {
  double data = 0, rest = 0;
};

Estimate EstimateStep(const Target& target, const Work& work, int64_t tiles,
                      int64_t block_tiles, int64_t blocks) {
  const double entries = Real(work.planes * tiles);
  const double rate = kProductRate * TileEfficiency(work.tile, 1, block_tiles,
                                                    work.out_vectors());
  const double products = entries * work.needed *
                          Real((work.in + kSumCost) * work.out_vectors()) /
                          (2 * kWinogradClock * rate);
  const double weight_bytes = 4 * Real(work.planes * work.in * work.out);
  const bool cached = weight_bytes <= kSharedCacheBytes;
  const double passes = Real(blocks);
  // Few weights are those of small networks, or little to read.
  const bool resident = 4 * weight_bytes <= Real(target.l2_bytes);
  const double first = std::max(
      products / passes,
      weight_bytes / (resident ? kCacheBytesPerSecond : kMemoryBytesPerSecond));
  const double again =
      std::max(products / passes,
               weight_bytes /
                   (cached ? kCacheBytesPerSecond : kMemoryBytesPerSecond)) +
      weight_bytes / (cached ? kAgainFromCache : kAgainFromMemory);
  const double spilled =
      std::clamp(Real(work.scratch_bytes(block_tiles)) /
                         (kScratchShare * Real(target.l2_bytes)) -
                     1,
                 0.0, 1.0);
  const double transform = entries * kTransformCycles / kWinogradClock;
  const double data_bytes = 4 * entries * Real(work.in_blocks() * work.lanes);
  const double sum_bytes = 4 * entries * Real(work.out_vectors() * work.lanes);
  return {
      transform * Real(work.in_blocks()) + data_bytes / kWrittenBytesPerSecond,
      first + (passes - 1) * again + transform * Real(work.out_vectors()) +
          2 * spilled * (data_bytes + sum_bytes) / kSpilledBytesPerSecond};
}

// How many times portions of the tasks begin with a block of tiles, or come to
// one: they transform its data.
int64_t Transforms(int64_t blocks, int64_t chunks, int64_t portions) {
  const int64_t tasks = blocks * chunks;
  int64_t count = 0;
  for (int64_t i = 0; i < portions; ++i) {
    const int64_t first = tasks * i / portions;
    const int64_t last = tasks * (i + 1) / portions - 1;
    count += last / chunks - first / chunks + 1;
  }
  return count;
}

// The seconds of all threads, on average over numbers of them.
double SecondsOfThreads(const Estimate& estimate, int64_t blocks,
                        int64_t chunks, double uneven) {
  const int64_t tasks = blocks * chunks;
  double sum = 0;
  for (const auto& [threads, weight] : kThreads) {
    const int64_t portions =
        threads == 1 ? 1 : std::min(threads * kPortions, tasks);
    const double repeats =
        Real(Transforms(blocks, chunks, portions)) / Real(blocks);
    const double seconds = estimate.data * repeats + estimate.rest;
    sum +=
        weight * (threads == 1 ? seconds
                               : seconds * uneven * Unevenness(tasks, threads));
  }
  return sum + Real(tasks) * kWinogradTaskSeconds;
}

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

WinogradGrid MakeWinogradGrid(const Target& target, const Contraction& c,
                              const KernelChoice& choice) {
  const Extents tile = WinogradTiles(c, choice.algorithm);
  const Extents window = WinogradWindows(c, choice.algorithm);
  WinogradGrid whole;
  whole.rows = CutAxis(c.output[0], tile[0], window[0]);
  whole.columns = CutAxis(c.output[1], tile[1], window[1]);
  whole.images.extent = c.batch;
  whole.tile_rows.extent = whole.rows.tiles;
  whole.tile_columns.extent = whole.columns.tiles;
  whole.tiles = c.batch * whole.rows.tiles * whole.columns.tiles;
  const Work work = {window[0] * window[1],
                     choice.block,
                     c.in,
                     c.out,
                     {static_cast<int>(choice.tile_rows),
                      static_cast<int>(choice.tile_vectors)},
                     Needed(whole.rows) * Needed(whole.columns)};
  WinogradGrid best;
  double best_seconds = 0;
  for (WinogradGrid& grid : Blocks(whole)) {
    const int64_t count = grid.block_tiles;
    if (count > 1 && work.scratch_bytes(count) > kMostScratchBytes) continue;
    const Estimate estimate =
        EstimateStep(target, work, grid.tiles, count, grid.blocks());
    grid.seconds = estimate.data + estimate.rest;
    const double uneven = Real(grid.blocks() * count) / Real(grid.tiles);
    for (int64_t chunks = 1; chunks <= std::min(work.groups(), kMostChunks);
         ++chunks) {
      const double seconds =
          SecondsOfThreads(estimate, grid.blocks(), chunks,
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
