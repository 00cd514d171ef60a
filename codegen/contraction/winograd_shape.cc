// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/winograd_shape.h"

#include <algorithm>

#include "codegen/contraction/algorithm.h"
#include "codegen/contraction/winograd_costs.h"
#include "ir/support/check.h"

namespace mxc::contraction {
namespace {

// Channels that one step multiplies.
constexpr int64_t kUnroll = 8;
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
  // Where a block is whole images: how many tiles these have, and the part of
  // the products that is needed.
  int64_t image_tiles;
  double needed;

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
                2 * planes * lanes);
  }
};

// Estimated seconds on one thread: of the transforms of data, and of the rest.
struct Estimate {
  double data = 0, rest = 0;
};

Estimate EstimateStep(const Target& target, const Work& work, int64_t tiles,
                      int64_t block_tiles) {
  const double entries = Real(work.planes * tiles);
  const double rate = kProductRate * TileEfficiency(work.tile, 1, block_tiles,
                                                    work.out_vectors());
  const double needed = block_tiles % work.image_tiles == 0 ? work.needed : 1;
  const double products = entries * needed *
                          Real((work.in + kSumCost) * work.out_vectors()) /
                          (2 * kWinogradClock * rate);
  const double weight_bytes = 4 * Real(work.planes * work.in * work.out);
  const bool cached = weight_bytes <= kSharedCacheBytes;
  const double passes = Real(DivideUp(tiles, block_tiles));
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

Extents DataStrides(const Layout& layout, int64_t lanes) {
  MXC_CHECK(layout.dims.size() == 5 && layout.dims.back().extent == lanes, "{}",
            ToString(layout));
  return layout.strides();
}

Nest ProductNest(const WinogradShape& shape, int lanes, int64_t panel_vectors) {
  const int64_t tiles = shape.grid.block_tiles;
  const int64_t unroll = std::min<int64_t>(lanes, kUnroll);
  Nest nest;
  nest.lanes = lanes;
  nest.columns = {tiles, lanes, lanes};
  nest.rows.data_stride = shape.grid.tile_columns * lanes;
  nest.rows.output_stride = shape.grid.tile_columns * lanes;
  const int64_t width = panel_vectors * lanes;
  nest.main.axes = {{shape.channels / lanes, tiles * lanes, lanes * width},
                    {lanes / unroll, unroll, unroll * width}};
  nest.main.unroll = nest.main.weight_rows = unroll;
  nest.main.row_stride = nest.tail.row_stride = width;
  nest.tail.unroll = nest.tail.weight_rows = shape.channels % lanes;
  nest.tail_offset = shape.channels / lanes * tiles * lanes;
  nest.output_vector_stride = tiles * lanes;
  nest.panel_vectors = panel_vectors;
  nest.panel_rows = shape.planes() * shape.channels;
  nest.panel_stride = nest.panel_rows * width;
  return nest;
}

Nest OutputNest(const Contraction& c, const Layout& output, int lanes,
                int64_t panel_vectors) {
  const Extents strides = DataStrides(output, lanes);
  Nest nest;
  nest.lanes = lanes;
  nest.outer = {{c.batch, 0, 0, strides[0], 0, 0}};
  nest.rows = {c.output[0], 0, strides[2], 2};
  nest.columns = {c.output[1], 0, strides[3], 3};
  nest.channels = c.out;
  nest.channel_var = 1;
  nest.output_vector_stride = strides[1];
  nest.panel_vectors = panel_vectors;
  nest.output_base = output.Offset(Extents(4, 0));
  return nest;
}

}  // namespace

bool WinogradFits(const Contraction& c) {
  const Extents ones = {1, 1};
  if (c.groups != 1 || c.kernel.size() != 2 || c.stride != ones ||
      c.dilate != ones || c.data_dilate != ones) {
    return false;
  }
  const auto [least, most] = std::minmax(c.kernel[0], c.kernel[1]);
  return (least == 1 && most >= 3 && most <= 7) ||
         (least == most && most >= 3 && most <= 5);
}

Extents WinogradHaloHigh(const Contraction& c, std::string_view algorithm) {
  const Extents tile = WinogradTiles(c, algorithm);
  Extents halo;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int64_t end =
        DivideUp(c.output[i], tile[i]) * tile[i] + c.kernel[i] - 1 - c.pad[i];
    halo.push_back(std::max<int64_t>(0, end - c.input[i]));
  }
  return halo;
}

WinogradGrid MakeWinogradGrid(const Target& target, const Contraction& c,
                              const KernelChoice& choice) {
  const Extents tile = WinogradTiles(c, choice.algorithm);
  const Extents window = WinogradWindows(c, choice.algorithm);
  WinogradGrid grid;
  grid.tile_rows = DivideUp(c.output[0], tile[0]);
  grid.tile_columns = DivideUp(c.output[1], tile[1]);
  const int64_t image_tiles = grid.tile_rows * grid.tile_columns;
  grid.tiles = c.batch * image_tiles;
  const auto hangs_over = [&](int i) { return c.output[i] % tile[i] != 0; };
  const auto needed = [&](int i, int64_t tiles) {
    return hangs_over(i) ? 1 - 1 / Real(tiles * window[i]) : 1;
  };
  const Work work = {window[0] * window[1],
                     choice.block,
                     c.in,
                     c.out,
                     {static_cast<int>(choice.tile_rows),
                      static_cast<int>(choice.tile_vectors)},
                     image_tiles,
                     needed(0, grid.tile_rows) * needed(1, grid.tile_columns)};
  double best = 0;
  for (int64_t count = std::min(grid.tiles, kMostBlockTiles); count >= 1;
       --count) {
    if (count > 1 && work.scratch_bytes(count) > kMostScratchBytes) continue;
    const int64_t blocks = DivideUp(grid.tiles, count);
    // Equal ones, or whole images.
    if (DivideUp(grid.tiles, blocks) != count && count % image_tiles != 0) {
      continue;
    }
    const Estimate estimate = EstimateStep(target, work, grid.tiles, count);
    for (int64_t chunks = 1; chunks <= std::min(work.groups(), kMostChunks);
         ++chunks) {
      const double seconds =
          SecondsOfThreads(estimate, blocks, chunks,
                           Real(blocks * count) / Real(grid.tiles) *
                               Unevenness(work.groups(), chunks));
      if (best != 0 && seconds >= best) continue;
      best = seconds;
      grid.seconds = estimate.data + estimate.rest;
      grid.block_tiles = count;
      grid.channel_chunks = chunks;
    }
  }
  grid.blocks = DivideUp(grid.tiles, grid.block_tiles);
  const bool whole = grid.block_tiles % image_tiles == 0;
  grid.cuts_rows = whole && hangs_over(0);
  grid.cuts_columns = whole && hangs_over(1);
  grid.data_plane = work.data_plane(grid.block_tiles);
  grid.product_plane = work.product_plane(grid.block_tiles);
  grid.scratch_bytes = work.scratch_bytes(grid.block_tiles);
  return grid;
}

WinogradShape ShapeWinograd(const Program& program, const Step& step,
                            const Target& target) {
  const ContractionStep& body = *step.contraction();
  const Contraction& c = body.contraction;
  const int lanes = static_cast<int>(body.choice.block);
  const Layout& data = program.buffers[step.inputs[0]].layout;
  const Layout& output = program.buffers[step.outputs[0]].layout;
  const int64_t panel_vectors = body.choice.tile_vectors;
  WinogradShape shape;
  shape.outputs = WinogradTiles(c, body.choice.algorithm);
  shape.window = WinogradWindows(c, body.choice.algorithm);
  shape.basis = BasisOfWindow(std::max(shape.window[0], shape.window[1]));
  shape.grid = MakeWinogradGrid(target, c, body.choice);
  shape.batch = c.batch;
  shape.channels = c.in;
  shape.height = c.output[0];
  shape.width = c.output[1];
  const Extents high = WinogradHaloHigh(c, body.choice.algorithm);
  for (const int i : {0, 1}) {
    MXC_CHECK(
        data.halo_low[i + 2] >= c.pad[i] && data.halo_high[i + 2] >= high[i],
        "{}: the halo of spatial axis {}", step.name, i);
  }
  const Extents strides = DataStrides(data, lanes);
  shape.data_image = strides[0];
  shape.data_block = strides[1];
  shape.data_row = strides[2];
  shape.data_column = strides[3];
  shape.data_base = data.Offset(Extents(4, 0)) - c.pad[0] * strides[2] -
                    c.pad[1] * strides[3];
  shape.products = ProductNest(shape, lanes, panel_vectors);
  shape.step.nest = OutputNest(c, output, lanes, panel_vectors);
  shape.step.tile = {static_cast<int>(body.choice.tile_rows),
                     static_cast<int>(panel_vectors)};
  shape.step.operands = OperandsOf(program, step);
  shape.step.epilogue = body.epilogue;
  return shape;
}

}  // namespace mxc::contraction
