// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/plane_work.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/contraction/winograd_costs.h"
#include "ir/support/check.h"

namespace mxc::contraction {
namespace {

// Channels that one step multiplies.
constexpr int64_t kPlaneUnroll = 8;
// What transformed data and products may take of the second cache, beside the
// weights that pass through it.
constexpr double kScratchShare = 0.375;
// Numbers of threads that a grid should suit, and how much.
struct ThreadCount {
  int64_t count;
  double weight;
};
constexpr ThreadCount kThreadCounts[] = {{1, 1}, {2, 1}, {4, 1}, {8, 0.25}};

// What two things take that run side by side: the longer, and an eighth more
// where both are as long.
double Together(double a, double b) {
  return std::pow(std::pow(a, 6) + std::pow(b, 6), 1 / 6.0);
}

// How many blocks of tiles the threads' portions of the tasks have, together:
// each thread transforms the data of its own.
int64_t Transforms(int64_t blocks, int64_t chunks, int64_t threads) {
  const int64_t tasks = blocks * chunks;
  int64_t count = 0;
  for (int64_t i = 0; i < threads; ++i) {
    const int64_t first = tasks * i / threads;
    const int64_t last = tasks * (i + 1) / threads - 1;
    count += last / chunks - first / chunks + 1;
  }
  return count;
}

}  // namespace

int64_t PlaneWork::data_plane(int64_t tiles) const {
  return in_blocks() * tiles * lanes + PlanePadding(dtype);
}

int64_t PlaneWork::product_plane(int64_t tiles) const {
  return tiles * panel_width() + PlanePadding(dtype);
}

int64_t PlaneWork::scratch_bytes(int64_t tiles) const {
  return SizeOf(dtype) *
         (LineElements(dtype) +
          planes * (data_plane(tiles) + product_plane(tiles) + lanes));
}

PlaneEstimate EstimatePlanes(const CpuMachine& machine, const PlaneWork& work,
                             int64_t tiles, int64_t block_tiles,
                             int64_t blocks) {
  const double entries = Real(work.planes * tiles);
  const double rate =
      machine.rates.planes *
      TileEfficiency(machine, work.tile, 1, block_tiles, work.out_vectors());
  const int64_t steps = work.in + machine.sum_start_multiply_adds;
  const double products = entries * work.needed *
                          Real(steps * work.out_vectors()) /
                          (machine.multiply_adds * machine.clock * rate);
  const double element = Real(SizeOf(work.dtype));
  const double weight_bytes = element * Real(work.planes * work.in * work.out);
  const bool cached = weight_bytes <= Real(machine.shared_l3_bytes);
  const double passes = Real(blocks);
  // Few weights are those of small networks, or little to read.
  const bool resident = 4 * weight_bytes <= Real(machine.l2.bytes);
  const double first =
      Together(products / passes,
               weight_bytes / (resident ? machine.l3.bytes_per_second
                                        : machine.memory_bytes_per_second));
  const double again =
      Together(products / passes,
               weight_bytes / (cached ? machine.l3.bytes_per_second
                                      : machine.memory_bytes_per_second)) +
      weight_bytes / (cached ? machine.again_l3_bytes_per_second
                             : machine.again_memory_bytes_per_second);
  const double spilled =
      std::clamp(Real(work.scratch_bytes(block_tiles)) /
                         (kScratchShare * Real(machine.l2.bytes)) -
                     1,
                 0.0, 1.0);
  const double data_bytes =
      element * entries * Real(work.in_blocks() * work.lanes);
  const double sum_bytes =
      element * entries * Real(work.out_vectors() * work.lanes);
  const auto transform = [&](int64_t vectors, double cycles) {
    return Real(tiles * vectors) * cycles / machine.clock;
  };
  return {
      transform(work.in_blocks(), work.data_cycles),
      first + (passes - 1) * again +
          transform(work.out_vectors(), work.output_cycles) +
          2 * spilled * (data_bytes + sum_bytes) / machine.l2.bytes_per_second};
}

double SecondsOfThreads(const CpuMachine& machine,
                        const PlaneEstimate& estimate, int64_t blocks,
                        int64_t chunks, double uneven) {
  const int64_t tasks = blocks * chunks;
  double sum = 0;
  for (const auto& [threads, weight] : kThreadCounts) {
    const double repeats =
        Real(Transforms(blocks, chunks, std::min(threads, tasks))) /
        Real(blocks);
    const double seconds = estimate.data * repeats + estimate.rest;
    sum +=
        weight * (threads == 1 ? seconds
                               : seconds * uneven * Unevenness(tasks, threads));
  }
  return sum + Real(tasks) * machine.launch_seconds;
}

Nest PlaneNest(const PlaneWork& work, int64_t block_tiles) {
  const int64_t lanes = work.lanes, width = work.panel_width();
  const int64_t unroll = std::min<int64_t>(lanes, kPlaneUnroll);
  Nest nest;
  nest.types = ContractionTypes::All(work.dtype);
  nest.lanes = static_cast<int>(lanes);
  nest.columns = {block_tiles, lanes, lanes};
  nest.main.axes = {{work.in / lanes, block_tiles * lanes, lanes * width},
                    {lanes / unroll, unroll, unroll * width}};
  nest.main.unroll = nest.main.weight_rows = unroll;
  nest.main.row_stride = nest.tail.row_stride = width;
  nest.tail.unroll = nest.tail.weight_rows = work.in % lanes;
  nest.tail_offset = work.in / lanes * block_tiles * lanes;
  nest.output_vector_stride = block_tiles * lanes;
  nest.panel_vectors = work.tile.vectors;
  nest.panel_rows = work.planes * work.in;
  nest.panel_stride = nest.panel_rows * width;
  return nest;
}

Extents BlockedStrides(const Layout& layout, int64_t lanes) {
  MXC_CHECK(layout.dims.size() == 5 && layout.dims.back().extent == lanes, "{}",
            ToString(layout));
  return layout.strides();
}

Nest OutputNest(const Contraction& c, const Layout& output, int lanes,
                int64_t panel_vectors) {
  const Extents strides = BlockedStrides(output, lanes);
  Nest nest;
  nest.types = c.types;
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

}  // namespace mxc::contraction
