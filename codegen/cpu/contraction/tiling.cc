// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/tiling.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "codegen/cpu/contraction/dot_unit.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

// Numbers of threads among which tasks should divide evenly.
constexpr int64_t kThreads[] = {2, 3, 4, 8, 16};
constexpr int64_t kMostTileChunks = 64;
constexpr double kThreadsThatFetch = 4;
constexpr int64_t kRowsToHalve = 8;

// Cycles of one step's channel in a tile, in which multiply-adds and loads run
// side by side. `load_cycles`: by which a load holds the multiply-adds up.
double TileCycles(const CpuMachine& machine, int64_t pixels, int64_t vectors,
                  double load_cycles) {
  const double work =
      static_cast<double>(pixels * vectors) / machine.multiply_adds;
  const double loads = static_cast<double>(pixels + vectors);
  const double latency = machine.multiply_add_latency;
  // Every tile pays for the start and the end of its accumulators.
  return std::max(
             {work + load_cycles * loads, loads / machine.loads, latency}) +
         machine.tile_start_cycles;
}

double PixelCycles(const CpuMachine& machine, int64_t rows, int64_t columns,
                   int pixels, int64_t vectors, double load_cycles) {
  const auto of_tile = [&](int64_t pixels_of_tile) {
    return TileCycles(machine, pixels_of_tile, vectors, load_cycles);
  };
  double cycles = 0;
  for (const TileRun& run : SplitPixels(rows, columns, pixels)) {
    const int64_t full = rows / run.rows, rest = rows % run.rows;
    cycles +=
        static_cast<double>(run.count) *
        (full * of_tile(run.width * run.rows) + rest * of_tile(run.width));
  }
  return cycles;
}

double Efficiency(const CpuMachine& machine, RegisterTile tile, int64_t rows,
                  int64_t columns, int64_t vectors, double load_cycles,
                  int joined) {
  const int64_t groups = (vectors - joined) / tile.vectors;
  const int64_t full = joined > 0 ? groups - 1 : groups;
  const int64_t rest = vectors - full * tile.vectors;
  double cycles = full * PixelCycles(machine, rows, columns, tile.pixels,
                                     tile.vectors, load_cycles);
  if (rest > 0) {
    cycles +=
        PixelCycles(machine, rows, columns, tile.pixels, rest, load_cycles);
  }
  return static_cast<double>(rows * columns * vectors) / machine.multiply_adds /
         cycles;
}

// Of tiles of so many vectors that are whole panels, the most efficient; the
// earlier ones win a tie.
RegisterTile BestTile(const CpuMachine& machine,
                      std::initializer_list<int> candidates, int64_t rows,
                      int64_t columns, int64_t vectors, int panel_vectors,
                      double load_cycles, bool joins) {
  RegisterTile best;
  double best_efficiency = 0;
  for (const int candidate : candidates) {
    if (candidate > vectors && candidate > 1) continue;
    if (candidate % panel_vectors != 0) continue;
    if (candidate > machine.most_tile_vectors) continue;
    const RegisterTile tile = {MaxPixels(machine, candidate), candidate};
    const double efficiency =
        Efficiency(machine, tile, rows, columns, vectors, load_cycles,
                   joins ? JoinedVectors(machine, tile, vectors) : 0);
    if (efficiency > best_efficiency * 1.02) {
      best = tile;
      best_efficiency = efficiency;
    }
  }
  return best;
}

// So many that a block of the reduction's data, which every group of vectors
// reads again, takes half of the second cache.
int64_t LeastPixelChunks(const CpuMachine& machine, const Nest& nest,
                         int tile_vectors, int64_t rows) {
  if (nest.main.axes.empty() || nest.main.axes[0].extent == 0) return 1;
  if (!nest.packed) return 1;
  const int64_t bytes = SizeOf(nest.types.data) * nest.data_elements *
                        ChooseStepBlock(machine, nest, tile_vectors) /
                        nest.main.axes[0].extent;
  return std::clamp<int64_t>(DivideUp(bytes, machine.l2.bytes / 2), 1, rows);
}

// The same as Waiting, for n things that are cut into so many tasks: a thread has
// several in a row, which differ by one of the things at most, all together.
double WaitingForUneven(int64_t n, int64_t tasks) {
  double sum = 0;
  for (const int64_t threads : kThreads) {
    const int64_t most = DivideUp(DivideUp(tasks, threads) * n, tasks);
    sum += static_cast<double>(most * threads) / static_cast<double>(n);
  }
  return sum / std::size(kThreads) - 1;
}

}  // namespace

double Unevenness(int64_t n, int64_t chunks) {
  return static_cast<double>(DivideUp(n, chunks) * chunks) /
         static_cast<double>(n);
}

double Waiting(int64_t tasks) {
  double sum = 0;
  for (const int64_t threads : kThreads) sum += Unevenness(tasks, threads);
  return sum / std::size(kThreads) - 1;
}

// Beside its sums, a position has a register for its data where they are kept or
// loaded first; else one is enough for all of them, or, folded, none. Where loads
// come first, a product waits in a register for its sum.
int MaxPixels(const CpuMachine& machine, int vectors) {
  const bool folded = machine.multiplies_by_memory && vectors == 1;
  const bool each = machine.multiplies_by_element || machine.loads_first;
  const bool one = machine.loads_first || !(folded || each);
  const int free = machine.vector_registers - vectors - (one ? 1 : 0);
  return std::clamp(free / (each ? vectors + 1 : vectors), 1,
                    machine.most_tile_pixels);
}

// What is added takes a register, and a sum beside each vector of weights.
RegisterTile DotTile(const CpuMachine& machine, const ProductUnit& unit,
                     RegisterTile tile) {
  if (!AddsToData(unit)) return tile;
  const int free = machine.vector_registers - 2 * tile.vectors - 2;
  return {std::clamp(free / tile.vectors, 1, tile.pixels), tile.vectors};
}

double DotEfficiency(const ProductUnit& unit, RegisterTile tile) {
  if (!AddsToData(unit)) return 1;
  const double sums = tile.pixels * tile.vectors;
  return sums / (sums + tile.vectors + 0.5 * tile.pixels);
}

int JoinedVectors(const CpuMachine& machine, RegisterTile tile,
                  int64_t vectors) {
  const auto rest = static_cast<int>(vectors % tile.vectors);
  if (rest == 0 || vectors < tile.vectors) return 0;
  const bool held = machine.registers_of_vector == 1 &&
                    machine.own_registers >= machine.vector_registers;
  const bool fits = MaxPixels(machine, tile.vectors + rest) >= tile.pixels;
  return held && fits ? rest : 0;
}

RegisterTile HeldTile(const CpuMachine& machine, RegisterTile tile) {
  if (machine.registers_of_vector == 1 &&
      machine.own_registers >= machine.vector_registers) {
    return tile;
  }
  const int sums = tile.vectors * machine.registers_of_vector;
  const int held = (machine.own_registers - 1 - sums) / sums;
  return {std::clamp(held, 1, tile.pixels), tile.vectors};
}

double TileEfficiency(const CpuMachine& machine, RegisterTile tile,
                      int64_t rows, int64_t columns, int64_t vectors) {
  return Efficiency(machine, tile, rows, columns, vectors, 0, 0);
}

double RowTileEfficiency(const CpuMachine& machine, RegisterTile tile,
                         int64_t rows, int64_t vectors) {
  return Efficiency(machine, tile, 1, rows, vectors, 0,
                    JoinedVectors(machine, tile, vectors));
}

RegisterTile ChooseTile(const CpuMachine& machine, int64_t rows,
                        int64_t columns, int64_t vectors) {
  return BestTile(machine, {machine.usual_tile_vectors, 2, 4, 3, 1}, rows,
                  columns, vectors,
                  /*panel_vectors=*/1, /*load_cycles=*/0, /*joins=*/false);
}

// Panels of four vectors leave the first cache less room for the rows. Equal
// tiles, of a row fewer, can be dealt more evenly.
RegisterTile ChooseRowTile(const CpuMachine& machine, int64_t rows,
                           int64_t vectors, int panel_vectors) {
  RegisterTile tile = BestTile(machine, {2, 3, 4, 1}, 1, rows, vectors,
                               panel_vectors, machine.row_load_cycles,
                               /*joins=*/true);
  const int fewer = tile.pixels - 1;
  if (fewer > 4 && rows % tile.pixels != 0 && rows % fewer == 0) {
    tile.pixels = fewer;
  }
  return tile;
}

std::vector<TileRun> SplitPixels(int64_t rows, int64_t columns, int pixels,
                                 int least_rows) {
  const auto least = std::min<int64_t>({least_rows, rows, pixels});
  const int64_t tiles = DivideUp(columns, pixels / least);
  const int64_t width = columns / tiles, wider = columns % tiles;
  std::vector<TileRun> runs;
  const auto add = [&](int64_t count, int64_t run_width) {
    if (count == 0) return;
    const int64_t most = std::min<int64_t>(pixels / run_width, rows);
    const int64_t first = runs.empty() ? 0 : wider * (width + 1);
    runs.push_back(
        {first, count, run_width, DivideUp(rows, DivideUp(rows, most))});
  };
  add(wider, width + 1);
  add(tiles - wider, width);
  return runs;
}

int64_t CountTiles(const std::vector<TileRun>& runs, int64_t rows) {
  int64_t tiles = 0;
  for (const TileRun& run : runs) tiles += run.count * DivideUp(rows, run.rows);
  return tiles;
}

bool DataOverWeights(double data_bytes, double weight_bytes) {
  return 2 * data_bytes >= weight_bytes;
}

Tasks ChooseTasks(const CpuMachine& machine, const Nest& nest, int tile_vectors,
                  int64_t column_tiles) {
  const int64_t vector_groups = DivideUp(nest.vectors(), tile_vectors);
  const double outer = static_cast<double>(nest.outer_count());
  Tasks best;
  best.deal = nest.deal_planes       ? Tasks::Deal::kPlanes
              : nest.rows.extent > 1 ? Tasks::Deal::kRows
                                     : Tasks::Deal::kColumnTiles;
  const int64_t rows = best.deal == Tasks::Deal::kPlanes ? nest.planes[0].extent
                       : best.deal == Tasks::Deal::kRows ? nest.rows.extent
                                                         : column_tiles;
  const double weights = nest.weight_bytes();
  // Depthwise chunks of channels share no data.
  const bool shared = nest.data_vector_stride == 0;
  const double data = nest.data_bytes();
  const double arithmetic = static_cast<double>(nest.flops()) /
                            machine.flops_per_second(nest.types.sum);
  const double work = std::max(
      arithmetic, outer * (weights + data) / machine.stream_bytes_per_second);
  const double written =
      static_cast<double>(SizeOf(nest.types.output) * nest.pixels()) *
      static_cast<double>(nest.channels);
  // A step without weights to share goes with its neighbours: pointwise
  // convolutions between as many channels, mostly.
  const double neighbour =
      static_cast<double>(SizeOf(nest.types.weight) * nest.channels) *
      static_cast<double>(nest.channels);
  best.channels_innermost =
      DataOverWeights(outer * (data + written), shared ? weights : neighbour);
  // Weights that stay in the second cache are fetched once by each thread.
  const bool kept = nest.outer_count() == 1 &&
                    4 * weights <= static_cast<double>(machine.l2.bytes);
  const auto seconds = [&](int64_t pixel_chunks, int64_t channel_chunks) {
    const double p = static_cast<double>(pixel_chunks);
    const double c = static_cast<double>(channel_chunks);
    const int64_t tasks = nest.outer_count() * pixel_chunks * channel_chunks;
    const double traffic =
        outer * (weights * (kept ? std::min(p, kThreadsThatFetch) : p) +
                 data * (shared ? c : 1));
    const double waste =
        tasks == channel_chunks ? WaitingForUneven(vector_groups, tasks)
        : tasks == pixel_chunks
            ? WaitingForUneven(rows, tasks)
            : (1 + Waiting(tasks)) * Unevenness(rows, pixel_chunks) *
                      Unevenness(vector_groups, channel_chunks) -
                  1;
    return work * waste + static_cast<double>(tasks) * machine.launch_seconds +
           traffic * (1 - machine.hidden_traffic) /
               machine.stream_bytes_per_second;
  };
  best.pixel_chunks = LeastPixelChunks(machine, nest, tile_vectors, rows);
  // So that two threads have data of their own; not of a kernel's few rows.
  if (best.channels_innermost && nest.outer_count() == 1 &&
      rows >= kRowsToHalve) {
    best.pixel_chunks = std::max<int64_t>(best.pixel_chunks, 2);
  }
  const int64_t least = best.pixel_chunks;
  double best_seconds = seconds(least, 1);
  for (int64_t p = least; p <= std::min(rows, std::max(least, kMostTileChunks));
       ++p) {
    for (int64_t c = 1; c <= std::min(vector_groups, kMostTileChunks); ++c) {
      if (seconds(p, c) >= best_seconds) continue;
      best_seconds = seconds(p, c);
      best.pixel_chunks = p;
      best.channel_chunks = c;
    }
  }
  return best;
}

int64_t ChooseStepBlock(const CpuMachine& machine, const Nest& nest,
                        int tile_vectors) {
  const int64_t total = nest.main.axes.empty() ? 1 : nest.main.axes[0].extent;
  if (total <= 1) return std::max<int64_t>(total, 1);
  const int64_t row_bytes =
      SizeOf(nest.types.weight) * tile_vectors * nest.lanes;
  const int64_t iteration_bytes =
      nest.main.count() / total * nest.main.weight_rows * row_bytes;
  const double share = nest.main.axes.size() == 1 ? machine.product_panel_share
                                                  : machine.panel_share;
  const auto budget =
      static_cast<int64_t>(share * static_cast<double>(machine.l1.bytes));
  const int64_t most = std::max<int64_t>(1, budget / iteration_bytes);
  const int64_t blocks = DivideUp(total, most);
  return DivideUp(total, blocks);
}

}  // namespace mxc::contraction
