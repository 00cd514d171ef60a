// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/plane_products.h"

#include <algorithm>

#include "codegen/cpu/contraction/micro_kernel.h"
#include "codegen/cpu/contraction/tiling.h"
#include "ir/support/division.h"

namespace mxc::contraction {

void PlaneProducts::Emit(int64_t tiles, int vectors, const Factors& factors) {
  EachTile(tiles, [&](const RegisterTiles& some) {
    EmitTile(some, vectors, factors);
  });
}

void PlaneProducts::EachTile(
    int64_t tiles, const std::function<void(const RegisterTiles&)>& body) {
  const auto runs = SplitPixels(1, tiles, pixels_);
  int64_t register_tiles = 0;
  for (const TileRun& run : runs) register_tiles += run.count;
  const int64_t step_lines = nest_.step_lines();
  const int64_t lines = DivideUp(step_lines, register_tiles);
  int64_t before = 0;
  for (const TileRun& run : runs) {
    kernel_.Loop(
        kernel_.Int(0), kernel_.Int(run.count), 1, [&](llvm::Value* i) {
          llvm::Value* first =
              Plus(kernel_.Int(run.first), Times(i, run.width));
          llvm::Value* number = Plus(kernel_.Int(before), i);
          llvm::Value* line =
              Least(Times(number, lines),
                    kernel_.Int(std::max<int64_t>(0, step_lines - lines)));
          body({run.width, first, line, lines});
        });
    before += run.count;
  }
}

void PlaneProducts::EmitTile(const RegisterTiles& tiles, int vectors,
                             const Factors& factors) {
  const int64_t blocked = nest_.main.axes[0].extent * nest_.lanes;
  const int64_t channels = blocked + nest_.tail.unroll;
  MicroKernel tile(kernel_, nest_, {tiles.width, 1, vectors});
  MicroKernel::Source source = {Advance(factors.data, tiles.first, nest_.lanes),
                                factors.weight};
  const MicroKernel::Source rest = {
      source.data, At(factors.weight, blocked * nest_.panel_width())};
  if (CpuMachineOf(kernel_.target()).fetches_ahead) {
    source.ahead = Plus(kernel_.Int(channels * nest_.panel_width()),
                        Times(tiles.line, LineElements(nest_.types.weight)));
    source.ahead_lines = tiles.lines;
  }
  const auto sums =
      tile.SumsOfMain(source, tile.AllOf(nest_.main.axes[0].extent));
  tile.Store(Advance(factors.products, tiles.first, nest_.lanes),
             tile.AddTail(rest, sums));
}

}  // namespace mxc::contraction
