// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/strassen_shape.h"

#include <algorithm>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/merge_pixels.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/winograd_costs.h"
#include "ir/program/quarter_sums.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

int64_t Pairs(const Contraction& c) {
  return DivideUp(c.batch * c.output[0] * c.output[1], 2);
}

PlaneWork WorkOf(const CpuMachine& machine, const Contraction& c,
                 const KernelChoice& choice) {
  const auto [lanes, tile] = TileOf(choice);
  return {.dtype = c.types.sum,
          .planes = kQuarterProducts,
          .lanes = lanes,
          .in = c.in / 2,
          .out = c.out / 2,
          .tile = tile,
          .data_cycles = machine.half_data_cycles,
          .output_cycles = machine.half_output_cycles};
}

}  // namespace

bool StrassenFits(const Contraction& c, int64_t lanes) {
  const Extents ones = {1, 1}, none = {0, 0};
  return c.groups == 1 && c.kernel == ones && c.data_dilate == ones &&
         c.pad == none && c.weight_axes[0] != Role::kGroupIn &&
         c.in % (2 * lanes) == 0 && c.out % (2 * lanes) == 0;
}

RegisterTile StrassenTile(const CpuMachine& machine, const Contraction& c,
                          int64_t lanes) {
  const int64_t vectors = c.out / 2 / lanes;
  const int wide = vectors % 2 == 0 ? 2 : vectors % 3 == 0 ? 3 : 1;
  // Of tiles of nearly equal width, whatever the number of pairs.
  const auto fewest_sums = [&](int wide) {
    return wide * (MaxPixels(machine, wide) / 2 + 1);
  };
  const bool waits =
      fewest_sums(wide) < machine.multiply_adds * machine.multiply_add_latency;
  if (waits && vectors % 4 == 0 && machine.most_tile_vectors >= 4 &&
      fewest_sums(4) > fewest_sums(wide)) {
    return {MaxPixels(machine, 4), 4};
  }
  return {MaxPixels(machine, wide), wide};
}

double StrassenSumSeconds(const CpuMachine& machine, const Contraction& c,
                          int64_t lanes) {
  const double cycles =
      machine.half_data_cycles * static_cast<double>(c.in / 2 / lanes) +
      machine.half_output_cycles * static_cast<double>(c.out / 2 / lanes);
  return static_cast<double>(Pairs(c)) * cycles / machine.clock;
}

StrassenGrid MakeStrassenGrid(const CpuMachine& machine, const Contraction& c,
                              const KernelChoice& choice) {
  const PlaneWork work = WorkOf(machine, c, choice);
  StrassenGrid grid;
  grid.pairs = Pairs(c);
  double best = 0;
  for (int64_t count = std::min(grid.pairs, kMostBlockTiles); count >= 1;
       --count) {
    const int64_t blocks = DivideUp(grid.pairs, count);
    if (DivideUp(grid.pairs, blocks) != count) continue;  // not equal ones
    const PlaneEstimate estimate =
        EstimatePlanes(machine, work, grid.pairs, count, blocks);
    const double uneven =
        static_cast<double>(blocks * count) / static_cast<double>(grid.pairs);
    for (int64_t chunks = 1; chunks <= std::min(work.groups(), kMostChunks);
         ++chunks) {
      const double seconds =
          SecondsOfThreads(machine, estimate, blocks, chunks,
                           uneven * Unevenness(work.groups(), chunks));
      if (best != 0 && seconds >= best) continue;
      best = seconds;
      grid.block_pairs = count;
      grid.blocks = blocks;
      grid.channel_chunks = chunks;
    }
  }
  grid.data_plane = work.data_plane(grid.block_pairs);
  grid.product_plane = work.product_plane(grid.block_pairs);
  // With the plane beside the last one.
  grid.scratch_bytes = work.scratch_bytes(grid.block_pairs) +
                       SizeOf(work.dtype) * grid.data_plane;
  return grid;
}

StrassenShape ShapeStrassen(const Program& program, const Step& step,
                            const Target& target) {
  const ContractionStep& body = *step.contraction();
  const Contraction& c = body.contraction;
  const Layout& data = program.buffers[step.inputs[0]].layout;
  const Layout& output = program.buffers[step.outputs[0]].layout;
  const CpuMachine machine = CpuMachineOf(target);
  const PlaneWork work = WorkOf(machine, c, body.choice);
  StrassenShape shape;
  shape.grid = MakeStrassenGrid(machine, c, body.choice);
  shape.batch = c.batch;
  shape.positions = c.output[0] * c.output[1];
  shape.width = c.output[1];
  shape.channels = work.in;
  shape.vectors = work.out_vectors();
  const auto lanes = static_cast<int>(work.lanes);
  const Extents strides = BlockedStrides(data, lanes);
  shape.data_base = data.Offset(Extents(4, 0));
  shape.data_image = strides[0];
  shape.data_block = strides[1];
  shape.data_row = strides[2] * c.stride[0];
  shape.data_column = strides[3] * c.stride[1];
  shape.is_flat = shape.data_row == shape.width * shape.data_column;
  shape.reads_data =
      c.types.data == c.types.sum && shape.is_flat &&
      shape.data_column == lanes &&
      (c.batch == 1 || shape.positions % (2 * shape.grid.block_pairs) == 0);
  shape.products = PlaneNest(work, shape.grid.block_pairs);
  shape.products.columns.data_stride *= 2;
  shape.products.main.axes[0].data_stride *= 2;
  shape.step.nest = OutputNest(c, output, lanes, work.tile.vectors);
  MergeRows(program, step, shape.step.nest);
  shape.step.tile = HeldTile(CpuMachineOf(target), work.tile);
  shape.step.operands = OperandsOf(program, step);
  shape.step.epilogue = body.epilogue;
  return shape;
}

}  // namespace mxc::contraction
