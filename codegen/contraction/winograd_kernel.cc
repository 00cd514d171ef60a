// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/winograd_kernel.h"

#include <algorithm>

#include "codegen/contraction/output_halo.h"
#include "codegen/contraction/tile_transform.h"

namespace mxc::contraction {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

WinogradKernel::WinogradKernel(KernelFunction& kernel,
                               const WinogradShape& shape)
    : FlatMemory(kernel, shape.step.nest.lanes),
      shape_(shape),
      nest_(shape.step.nest),
      data_(kernel.scratch()),
      products_(At(data_, shape.planes() * shape.grid.data_plane)),
      outputs_(At(products_, shape.planes() * shape.grid.product_plane)),
      epilogue_(kernel, shape.step) {}

void WinogradKernel::Emit() {
  kernel_.Loop(kernel_.begin(), kernel_.end(), 1,
               [&](llvm::Value* task) { EmitTask(task); });
}

void WinogradKernel::EmitTask(llvm::Value* task) {
  const WinogradGrid& grid = shape_.grid;
  llvm::Value* inner =
      kernel_.Int(grid.channels_innermost ? grid.channel_chunks : grid.blocks);
  llvm::Value* index = b_.CreateURem(task, inner);
  llvm::Value* chunk = b_.CreateUDiv(task, inner);
  if (grid.channels_innermost) std::swap(index, chunk);
  llvm::Value* full = kernel_.Int(grid.block_tiles);
  Block block;
  block.first = Times(index, grid.block_tiles);
  llvm::Value* rest = b_.CreateSub(kernel_.Int(grid.tiles), block.first);
  const bool all_full = grid.tiles % grid.block_tiles == 0;
  block.count = all_full ? full : Least(rest, full);
  block.is_full = all_full ? b_.getTrue() : b_.CreateICmpEQ(block.count, full);
  const int64_t groups = shape_.step.vector_groups();
  llvm::Value* first_group = Part(chunk, grid.channel_chunks, groups);
  llvm::Value* last_group =
      Part(Plus(chunk, kernel_.Int(1)), grid.channel_chunks, groups);
  ZeroHalo(index, first_group, last_group);
  TransformData(block);
  EmitGroups(block, first_group, last_group);
}

void WinogradKernel::TransformData(const Block& block) {
  const int64_t lanes = nest_.lanes;
  llvm::Value* base = At(kernel_.operand(0), shape_.data_base);
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(shape_.data_blocks()), 1,
      [&](llvm::Value* channels) {
        llvm::Value* from = Advance(base, channels, shape_.data_block);
        llvm::Value* to =
            Advance(data_, channels, shape_.grid.block_tiles * lanes);
        kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* tile) {
          const Corner at = CornerOf(Plus(block.first, tile));
          llvm::Value* window = Advance(from, at.image, shape_.data_image);
          window = Advance(window, at.row, shape_.data_row);
          window = Advance(window, at.column, shape_.data_column);
          TransformTile(window, Advance(to, tile, lanes));
        });
      });
}

void WinogradKernel::TransformTile(llvm::Value* window, llvm::Value* to) {
  const int64_t n = shape_.window();
  Vectors x;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      x.push_back(
          LoadVector(At(window, i * shape_.data_row + j * shape_.data_column)));
    }
  }
  x = MultiplyBothSides(kernel_, DataMatrix(shape_.basis), static_cast<int>(n),
                        std::move(x));
  for (int64_t plane = 0; plane < n * n; ++plane) {
    StoreVector(x[plane], At(to, plane * shape_.grid.data_plane));
  }
}

void WinogradKernel::EmitGroups(const Block& block, llvm::Value* first,
                                llvm::Value* last) {
  const int64_t full = shape_.step.full_vector_groups();
  const int vectors = shape_.step.tile.vectors;
  llvm::Value* limit = kernel_.Int(full);
  if (full > 0) {
    kernel_.Loop(first, Least(last, limit), 1, [&](llvm::Value* group) {
      EmitGroup(block, group, vectors, 0);
    });
  }
  const int rest = static_cast<int>(nest_.vectors() - full * vectors);
  if (rest == 0) return;
  kernel_.If(b_.CreateICmpUGT(last, limit),
             [&] { EmitGroup(block, limit, rest, nest_.tail_lanes()); });
}

void WinogradKernel::EmitGroup(const Block& block, llvm::Value* group,
                               int vectors, int64_t tail_lanes) {
  EmitProducts(block, group, vectors);
  const int64_t stride = shape_.products.output_vector_stride;
  const int whole = tail_lanes > 0 ? vectors - 1 : vectors;
  llvm::Value* first = Times(group, shape_.step.tile.vectors);
  kernel_.Loop(kernel_.Int(0), kernel_.Int(whole), 1, [&](llvm::Value* v) {
    EmitOutputs(block, Plus(first, v), Advance(products_, v, stride), 0);
  });
  if (tail_lanes == 0) return;
  EmitOutputs(block, Plus(first, kernel_.Int(whole)),
              At(products_, whole * stride), tail_lanes);
}

void WinogradKernel::EmitProducts(const Block& block, llvm::Value* group,
                                  int vectors) {
  const WinogradGrid& grid = shape_.grid;
  const Nest& nest = shape_.products;
  const int64_t plane_weights = shape_.channels * nest.panel_width();
  llvm::Value* weights = Advance(kernel_.operand(1), group, nest.panel_stride);
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(shape_.planes()), 1, [&](llvm::Value* plane) {
        llvm::Value* data = Advance(data_, plane, grid.data_plane);
        llvm::Value* weight = Advance(weights, plane, plane_weights);
        llvm::Value* products = Advance(products_, plane, grid.product_plane);
        kernel_.If(
            block.is_full,
            [&] {
              MultiplyPlane(grid.block_tiles, vectors, data, weight, products);
            },
            [&] {
              MultiplyPlane(grid.tiles % grid.block_tiles, vectors, data,
                            weight, products);
            });
      });
}

// Each register tile fetches a part of the next plane's weights.
void WinogradKernel::MultiplyPlane(int64_t tiles, int vectors,
                                   llvm::Value* data, llvm::Value* weight,
                                   llvm::Value* products) {
  const Nest& nest = shape_.products;
  const auto runs = SplitPixels(1, tiles, shape_.step.tile.pixels);
  int64_t register_tiles = 0;
  for (const TileRun& run : runs) register_tiles += run.count;
  const int64_t step_lines =
      nest.main.weight_rows * nest.panel_width() / kLineFloats;
  const int64_t lines = DivideUp(step_lines, register_tiles);
  const int64_t plane_weights = shape_.channels * nest.panel_width();
  int64_t before = 0;
  for (const TileRun& run : runs) {
    kernel_.Loop(
        kernel_.Int(0), kernel_.Int(run.count), 1, [&](llvm::Value* i) {
          MicroKernel tile(kernel_, nest, {run.width, 1, vectors});
          llvm::Value* column =
              Plus(kernel_.Int(run.first), Times(i, run.width));
          llvm::Value* line =
              Least(Times(Plus(i, kernel_.Int(before)), lines),
                    kernel_.Int(std::max<int64_t>(0, step_lines - lines)));
          MicroKernel::Source source = {Advance(data, column, nest_.lanes),
                                        weight};
          MicroKernel::Source rest = {
              source.data, At(weight, shape_.channels / nest_.lanes *
                                          nest_.lanes * nest.panel_width())};
          source.ahead =
              Plus(kernel_.Int(plane_weights), Times(line, kLineFloats));
          source.ahead_lines = lines;
          auto sums = tile.AddMain(
              source, kernel_.Int(nest.main.axes[0].extent), tile.Zeros());
          tile.Store(Advance(products, column, nest_.lanes),
                     tile.AddTail(rest, std::move(sums)));
        });
    before += run.count;
  }
}

void WinogradKernel::EmitOutputs(const Block& block, llvm::Value* vector,
                                 llvm::Value* products, int64_t tail_lanes) {
  const int64_t m = shape_.outputs;
  kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* tile) {
    llvm::Value* from = Advance(products, tile, nest_.lanes);
    Vectors x;
    for (int64_t plane = 0; plane < shape_.planes(); ++plane) {
      x.push_back(LoadVector(At(from, plane * shape_.grid.product_plane)));
    }
    x = MultiplyBothSides(kernel_, OutputMatrix(shape_.basis, m),
                          static_cast<int>(shape_.window()), std::move(x));
    for (int64_t i = 0; i < m * m; ++i) {
      StoreVector(x[i], At(outputs_, i * nest_.lanes));
    }
    WriteTile(CornerOf(Plus(block.first, tile)), vector, tail_lanes);
  });
}

// What of the tile lies inside of the output.
void WinogradKernel::WriteTile(const Corner& corner, llvm::Value* vector,
                               int64_t tail_lanes) {
  const int64_t m = shape_.outputs;
  const auto inside = [&](int64_t extent, llvm::Value* first) -> llvm::Value* {
    if (extent % m == 0) return kernel_.Int(m);
    return Least(b_.CreateSub(kernel_.Int(extent), first), kernel_.Int(m));
  };
  llvm::Value* columns = inside(shape_.width, corner.column);
  kernel_.Loop(
      kernel_.Int(0), inside(shape_.height, corner.row), 1,
      [&](llvm::Value* i) {
        const Corner row = {corner.image, Plus(corner.row, i), corner.column};
        llvm::Value* sums = Advance(outputs_, i, m * nest_.lanes);
        kernel_.If(
            b_.CreateICmpEQ(columns, kernel_.Int(m)),
            [&] { WriteRow(row, sums, m, vector, tail_lanes); },
            [&] {
              kernel_.Loop(kernel_.Int(0), columns, 1, [&](llvm::Value* j) {
                WriteRow({row.image, row.row, Plus(row.column, j)},
                         Advance(sums, j, nest_.lanes), 1, vector, tail_lanes);
              });
            });
      });
}

void WinogradKernel::WriteRow(const Corner& corner, llvm::Value* sums,
                              int64_t width, llvm::Value* vector,
                              int64_t tail_lanes) {
  Vectors values;
  for (int64_t j = 0; j < width; ++j) {
    values.push_back(LoadVector(At(sums, j * nest_.lanes)));
  }
  llvm::Value* output = At(Output(), nest_.output_base);
  output = Advance(output, corner.image, nest_.outer[0].output_stride);
  output = Advance(output, vector, nest_.output_vector_stride);
  output = Advance(output, corner.row, nest_.rows.output_stride);
  output = Advance(output, corner.column, nest_.columns.output_stride);
  const TileShape tile = {width, 1, 1};
  epilogue_.Write(tile, {{corner.image}, {}, corner.row, corner.column, vector},
                  MicroKernel(kernel_, nest_, tile), tail_lanes, values,
                  output);
}

// The first block's tasks do it for all images.
void WinogradKernel::ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                              llvm::Value* last_group) {
  if (!shape_.step.output().has_halo()) return;
  const int64_t vectors = shape_.step.tile.vectors;
  kernel_.If(b_.CreateICmpEQ(block, kernel_.Int(0)), [&] {
    OutputHalo(kernel_, shape_.step)
        .Zero(Output(), {kernel_.Int(0), kernel_.Int(shape_.batch),
                         Times(first_group, vectors),
                         Least(Times(last_group, vectors),
                               kernel_.Int(nest_.vectors()))});
  });
}

WinogradKernel::Corner WinogradKernel::CornerOf(llvm::Value* tile) {
  const auto take = [&](int64_t extent) {
    llvm::Value* part = b_.CreateURem(tile, kernel_.Int(extent));
    tile = b_.CreateUDiv(tile, kernel_.Int(extent));
    return part;
  };
  llvm::Value* column = Times(take(shape_.grid.tile_columns), shape_.outputs);
  llvm::Value* row = Times(take(shape_.grid.tile_rows), shape_.outputs);
  return {tile, row, column};
}

llvm::Value* WinogradKernel::Output() {
  const size_t operands = shape_.step.operands.size();
  return kernel_.operand(static_cast<int>(operands) - 1);
}

}  // namespace mxc::contraction
