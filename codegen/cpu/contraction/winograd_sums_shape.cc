// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_sums_shape.h"

#include <algorithm>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/operand.h"
#include "codegen/cpu/contraction/pixel_sums.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/winograd_costs.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

// Tiles that one step multiplies.
constexpr int64_t kTileUnroll = 4;

// The numbers of chunks of n things that differ in the largest chunk.
std::vector<int64_t> Chunks(int64_t n) {
  std::vector<int64_t> chunks;
  for (int64_t i = 1; i <= n; ++i) {
    if (i == 1 || DivideUp(n, i) < DivideUp(n, i - 1)) chunks.push_back(i);
  }
  return chunks;
}

// Of one part of the images.
struct Work {
  DType dtype;
  int64_t planes, lanes, panel_vectors, tiles, in_blocks, groups;

  int64_t block_tiles(int64_t most) const {
    const int64_t blocks = DivideUp(tiles, most);
    return DivideUp(DivideUp(tiles, blocks), kTileUnroll) * kTileUnroll;
  }
  int64_t panel_width() const { return panel_vectors * lanes; }
};

void Measure(const Work& work, WinogradSumsGrid& grid) {
  grid.chunk_blocks = DivideUp(work.in_blocks, grid.data_chunks);
  grid.chunk_groups = DivideUp(work.groups, grid.out_chunks);
  grid.blocks = DivideUp(work.tiles, grid.block_tiles);
  const int64_t channels = grid.chunk_blocks * work.lanes;
  const int64_t outputs = grid.chunk_groups * work.panel_width();
  const int64_t padding = PlanePadding(work.dtype);
  grid.data_plane = channels * grid.block_tiles + padding;
  grid.weight_plane = outputs * grid.block_tiles + padding;
  grid.sums_plane = channels * outputs + padding;
  grid.scratch_bytes = SizeOf(work.dtype) * work.planes *
                       (grid.data_plane + grid.weight_plane + grid.sums_plane);
}

double Seconds(const CpuMachine& machine, const Work& work, int64_t parts,
               const WinogradSumsGrid& grid) {
  const auto real = [](int64_t x) { return static_cast<double>(x); };
  const int64_t chunks = grid.data_chunks * grid.out_chunks;
  const double vectors = real(work.groups * work.panel_vectors);
  const double tiles = real(work.planes * work.tiles);
  const double products =
      tiles * real(work.in_blocks * work.lanes) * vectors /
      (machine.multiply_adds * machine.clock * machine.rates.few_channels);
  const double operands = tiles * (real(work.in_blocks * grid.out_chunks) +
                                   vectors * real(grid.data_chunks));
  const double sums = real(work.planes * work.in_blocks * work.lanes) * vectors;
  const double traffic = 2 * real(SizeOf(work.dtype) * work.lanes) *
                         (operands + sums * real(grid.blocks));
  const bool cached = grid.scratch_bytes <= machine.l2.bytes;
  const double uneven = real(grid.chunk_blocks * grid.data_chunks) /
                        real(work.in_blocks) *
                        real(grid.chunk_groups * grid.out_chunks) /
                        real(work.groups) * (1 + Waiting(parts * chunks));
  return real(parts) *
         (uneven * (products + (operands + sums) * machine.transform_cycles /
                                   machine.clock) +
          traffic / (cached ? machine.l2.bytes_per_second
                            : machine.write_bytes_per_second) +
          real(chunks) * machine.launch_seconds);
}

WinogradSumsShape::Strides StridesOf(const Operand& at, int channel_axis) {
  const int image = at.AxisOf({Role::kIn, Role::kGroupIn});
  WinogradSumsShape::Strides strides;
  strides.base = at.Origin();
  strides.image = at.Stride(image);
  strides.block = at.Stride(channel_axis);
  strides.row = at.Stride(at.AxisOf({SpatialRole(0)}));
  strides.column = at.Stride(at.AxisOf({SpatialRole(1)}));
  return strides;
}

Nest ProductNest(const WinogradSumsShape& shape, DType dtype, int lanes,
                 int64_t panel_vectors) {
  const int64_t width = panel_vectors * lanes;
  Nest nest;
  nest.types = ContractionTypes::All(dtype);
  nest.lanes = lanes;
  nest.columns = {lanes, 1, width};
  nest.main.axes = {{shape.grid.block_tiles / kTileUnroll, kTileUnroll * lanes,
                     kTileUnroll * width}};
  nest.main.unroll = nest.main.weight_rows = kTileUnroll;
  nest.main.stride = lanes;
  nest.main.row_stride = width;
  nest.output_vector_stride = lanes;
  nest.panel_vectors = panel_vectors;
  return nest;
}

Nest SumsNest(const Contraction& c, const Layout& layout, int lanes,
              int64_t panel_vectors) {
  const Operand at(layout, c.output_axes);
  const int part = at.AxisOf({Role::kGroup});
  const int in = at.AxisOf({Role::kBatch});
  const int out = at.AxisOf({Role::kOut, Role::kGroupOut});
  const int row = at.AxisOf({SpatialRole(0)});
  const int column = at.AxisOf({SpatialRole(1)});
  Nest nest;
  nest.types = c.types;
  nest.lanes = lanes;
  if (part >= 0) nest.outer = {{c.groups, 0, 0, at.Stride(part), 0, part}};
  nest.planes = {{c.batch, 0, at.Stride(in), in}};
  nest.rows = {c.output[0], 0, at.Stride(row), row};
  nest.columns = {c.output[1], 0, at.Stride(column), column};
  nest.channels = c.out;
  nest.channel_var = out;
  nest.output_vector_stride = at.Stride(out);
  nest.panel_vectors = panel_vectors;
  nest.output_base = at.Origin();
  return nest;
}

void CheckLayouts(const WinogradSumsShape& shape, const Contraction& c,
                  const Step& step) {
  const auto& operands = shape.step.operands;
  const Layout& data = operands[0].layout;
  const Extents high =
      WinogradSumsHaloHigh(c, step.contraction()->choice.algorithm);
  for (const int i : {0, 1}) {
    MXC_CHECK(
        data.halo_low[i + 2] >= c.pad[i] && data.halo_high[i + 2] >= high[i],
        "{}: the halo of spatial axis {}", step.name, i);
  }
  const int64_t lanes = shape.step.nest.lanes;
  MXC_CHECK(
      data.block(1) == lanes && operands[1].layout.block(1) == lanes &&
          shape.step.output().block(shape.step.nest.channel_var) == lanes &&
          !shape.step.output().has_halo(),
      "{}: layouts", step.name);
}

}  // namespace

bool WinogradSumsFit(const Contraction& c) {
  const Extents threes = {3, 3}, fives = {5, 5}, ones = {1, 1};
  const bool one_group = c.groups == 1 || c.data_axes[0] == Role::kGroupIn;
  return IsPixelSums(c) && one_group &&
         (c.output == threes || c.output == fives) && c.stride == ones &&
         c.dilate == ones;
}

Extents WinogradSumsHaloHigh(const Contraction& c, std::string_view algorithm) {
  const int64_t m = WinogradSumsTile(algorithm);
  Extents halo;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int64_t end =
        DivideUp(c.kernel[i], m) * m + c.output[i] - 1 - c.pad[i];
    halo.push_back(std::max<int64_t>(0, end - c.input[i]));
  }
  return halo;
}

WinogradSumsGrid MakeWinogradSumsGrid(const CpuMachine& machine,
                                      const Contraction& c,
                                      const KernelChoice& choice) {
  const int64_t m = WinogradSumsTile(choice.algorithm);
  const TileChoice chosen = TileOf(choice);
  const int64_t lanes = chosen.lanes, vectors = chosen.tile.vectors;
  const int64_t n = m + c.output[0] - 1;
  WinogradSumsGrid grid;
  grid.tile_rows = DivideUp(c.kernel[0], m);
  grid.tile_columns = DivideUp(c.kernel[1], m);
  grid.tiles = c.in * grid.tile_rows * grid.tile_columns;
  const Work work = {c.types.sum,
                     n * n,
                     lanes,
                     vectors,
                     grid.tiles,
                     DivideUp(c.batch, lanes),
                     DivideUp(c.out, lanes * vectors)};
  const std::vector<int64_t> in_chunks = Chunks(work.in_blocks);
  const std::vector<int64_t> out_chunks = Chunks(work.groups);
  WinogradSumsGrid best;
  for (int64_t most = kMostBlockTiles; most >= kTileUnroll;
       most -= kTileUnroll) {
    grid.block_tiles = work.block_tiles(most);
    for (const int64_t in : in_chunks) {
      for (const int64_t out : out_chunks) {
        grid.data_chunks = in;
        grid.out_chunks = out;
        Measure(work, grid);
        // One block by one group always fits.
        if (grid.scratch_bytes > machine.scratch_bytes) continue;
        grid.seconds = Seconds(machine, work, c.groups, grid);
        if (best.seconds == 0 || grid.seconds < best.seconds) best = grid;
      }
    }
  }
  return best;
}

WinogradSumsShape ShapeWinogradSums(const Program& program, const Step& step,
                                    const Target& target) {
  const ContractionStep& body = *step.contraction();
  const Contraction& c = body.contraction;
  const auto [lanes, tile] = TileOf(body.choice);
  const int64_t panel_vectors = tile.vectors;
  WinogradSumsShape shape;
  shape.tile = WinogradSumsTile(body.choice.algorithm);
  shape.kernel = c.output[0];
  shape.basis = BasisOfWindow(shape.tile + shape.kernel - 1);
  shape.grid = MakeWinogradSumsGrid(CpuMachineOf(target), c, body.choice);
  shape.parts = c.groups;  // of the images
  shape.channels = c.batch;
  shape.height = c.kernel[0];
  shape.width = c.kernel[1];
  shape.step.operands = OperandsOf(program, step);
  const Layout& data = shape.step.operands[0].layout;
  shape.data = StridesOf(Operand(data, c.data_axes), 1);
  shape.data.base -= c.pad[0] * shape.data.row + c.pad[1] * shape.data.column;
  shape.data.part = c.in * shape.data.image;
  const Layout& weight = shape.step.operands[1].layout;
  shape.weight = StridesOf(Operand(weight, c.weight_axes), 1);
  shape.weight.part = c.in * shape.weight.image;
  shape.products = ProductNest(shape, c.types.sum, lanes, panel_vectors);
  shape.step.nest = SumsNest(c, shape.step.output(), lanes, panel_vectors);
  shape.step.tile = HeldTile(CpuMachineOf(target), tile);
  shape.step.epilogue = body.epilogue;
  CheckLayouts(shape, c, step);
  return shape;
}

}  // namespace mxc::contraction
