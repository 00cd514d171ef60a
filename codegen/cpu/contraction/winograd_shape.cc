// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_shape.h"

#include <algorithm>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/plane_work.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "ir/support/check.h"

namespace mxc::contraction {
namespace {

// Short, since the transforms of outputs multiply the errors of these sums.
constexpr int64_t kPlaneChain = 64;

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

Extents WinogradHaloHigh(const Contraction& c) {
  Extents halo;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int64_t end = c.output[i] + c.kernel[i] - 1 - c.pad[i];
    halo.push_back(std::max<int64_t>(0, end - c.input[i]));
  }
  return halo;
}

WinogradShape ShapeWinograd(const Program& program, const Step& step,
                            const Target& target) {
  const ContractionStep& body = *step.contraction();
  const Contraction& c = body.contraction;
  const auto [lanes, tile] = TileOf(body.choice);
  const Layout& data = program.buffers[step.inputs[0]].layout;
  const Layout& output = program.buffers[step.outputs[0]].layout;
  const int64_t panel_vectors = tile.vectors;
  WinogradShape shape;
  const Extents window = WinogradWindows(c, body.choice.algorithm);
  shape.basis = BasisOfWindow(std::max(window[0], window[1]));
  shape.grid = MakeWinogradGrid(CpuMachineOf(target), c, body.choice);
  shape.batch = c.batch;
  shape.channels = c.in;
  shape.maxima = body.maxima.empty() ? Extents{1, 1} : body.maxima;
  const TileAxis* axes[] = {&shape.grid.rows, &shape.grid.columns};
  for (const int i : {0, 1}) {
    MXC_CHECK(
        axes[i]->tiles == 1 || axes[i]->each.outputs % shape.maxima[i] == 0,
        "{}: maxima", step.name);
  }
  const Extents high = WinogradHaloHigh(c);
  for (const int i : {0, 1}) {
    MXC_CHECK(
        data.halo_low[i + 2] >= c.pad[i] && data.halo_high[i + 2] >= high[i],
        "{}: the halo of spatial axis {}", step.name, i);
  }
  const Extents strides = BlockedStrides(data, lanes);
  shape.data_image = strides[0];
  shape.data_block = strides[1];
  shape.data_row = strides[2];
  shape.data_column = strides[3];
  shape.data_base = data.Offset(Extents(4, 0)) - c.pad[0] * strides[2] -
                    c.pad[1] * strides[3];
  const PlaneWork work = {.dtype = c.types.sum,
                          .planes = shape.planes(),
                          .lanes = lanes,
                          .in = c.in,
                          .out = c.out,
                          .tile = tile};
  shape.products = PlaneNest(work, shape.grid.block_tiles);
  shape.products.chain_additions = kPlaneChain;
  shape.step.nest = OutputNest(c, output, lanes, panel_vectors);
  shape.step.tile = HeldTile(CpuMachineOf(target), tile);
  shape.step.operands = OperandsOf(program, step);
  shape.step.epilogue = body.epilogue;
  return shape;
}

}  // namespace mxc::contraction
