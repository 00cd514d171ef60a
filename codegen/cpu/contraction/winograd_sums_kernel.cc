// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_sums_kernel.h"

#include "codegen/cpu/contraction/tile_transform.h"

namespace mxc::contraction {

WinogradSumsKernel::WinogradSumsKernel(KernelFunction& kernel,
                                       const WinogradSumsShape& shape)
    : FlatMemory(kernel, shape.step.nest.types.sum, shape.step.nest.lanes),
      shape_(shape),
      nest_(shape.step.nest),
      data_(kernel.scratch()),
      weight_(At(data_, shape.planes() * shape.grid.data_plane)),
      sums_(At(weight_, shape.planes() * shape.grid.weight_plane)),
      epilogue_(kernel, shape.step) {}

void WinogradSumsKernel::Emit() {
  kernel_.Loop(kernel_.begin(), kernel_.end(), 1,
               [&](llvm::Value* task) { EmitTask(task); });
}

void WinogradSumsKernel::EmitTask(llvm::Value* task) {
  const WinogradSumsGrid& grid = shape_.grid;
  const auto take = [&](int64_t extent) -> llvm::Value* {
    llvm::Value* part = b_.CreateURem(task, kernel_.Int(extent));
    task = b_.CreateUDiv(task, kernel_.Int(extent));
    return part;
  };
  llvm::Value* out = take(grid.out_chunks);
  llvm::Value* in = take(grid.data_chunks);
  const auto after = [&](llvm::Value* i) { return Plus(i, kernel_.Int(1)); };
  const int64_t blocks = shape_.data_blocks();
  const int64_t groups = shape_.step.vector_groups();
  const Chunk chunk = {task, Part(in, grid.data_chunks, blocks),
                       Part(after(in), grid.data_chunks, blocks),
                       Part(out, grid.out_chunks, groups),
                       Part(after(out), grid.out_chunks, groups)};
  kernel_.Loop(kernel_.Int(0), kernel_.Int(grid.blocks), 1,
               [&](llvm::Value* index) { EmitBlock(chunk, index); });
  EmitOutputs(chunk);
}

void WinogradSumsKernel::EmitBlock(const Chunk& chunk, llvm::Value* index) {
  const WinogradSumsGrid& grid = shape_.grid;
  Block block;
  block.first = Times(index, grid.block_tiles);
  block.count = Least(b_.CreateSub(kernel_.Int(grid.tiles), block.first),
                      kernel_.Int(grid.block_tiles));
  block.is_first = b_.CreateICmpEQ(index, kernel_.Int(0));
  TransformData(chunk, block);
  TransformWeight(chunk, block);
  EmitProducts(chunk, block);
}

// Tiles up to a whole step's are zero.
void WinogradSumsKernel::TransformData(const Chunk& chunk, const Block& block) {
  const int64_t lanes = nest_.lanes, n = shape_.window();
  const auto& strides = shape_.data;
  llvm::Value* origin = Origin(0, strides, chunk);
  kernel_.Loop(
      chunk.first_block, chunk.last_block, 1, [&](llvm::Value* channels) {
        llvm::Value* from = Advance(origin, channels, strides.block);
        llvm::Value* to = DataOf(chunk, channels);
        kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* tile) {
          const Corner at = CornerOf(Plus(block.first, tile));
          llvm::Value* window = Advance(from, at.image, strides.image);
          window = Advance(window, at.row, strides.row);
          window = Advance(window, at.column, strides.column);
          Vectors x;
          for (int64_t i = 0; i < n * n; ++i) {
            x.push_back(LoadVector(
                At(window, i / n * strides.row + i % n * strides.column)));
          }
          x = MultiplyBothSides(kernel_, DataMatrix(shape_.basis),
                                static_cast<int>(n), std::move(x));
          llvm::Value* place = Advance(to, tile, lanes);
          for (int64_t plane = 0; plane < n * n; ++plane) {
            StoreVector(x[plane], At(place, plane * shape_.grid.data_plane));
          }
        });
        kernel_.Loop(block.count, kernel_.Int(shape_.grid.block_tiles), 1,
                     [&](llvm::Value* tile) {
                       ZeroPlanes(Advance(to, tile, lanes),
                                  shape_.grid.data_plane);
                     });
      });
}

void WinogradSumsKernel::TransformWeight(const Chunk& chunk,
                                         const Block& block) {
  const int64_t width = shape_.products.panel_width();
  llvm::Value* origin = Origin(1, shape_.weight, chunk);
  ForEachGroup(chunk, [&](llvm::Value* group, int vectors, int64_t) {
    llvm::Value* to = WeightOf(chunk, group);
    llvm::Value* first = Times(group, shape_.step.tile.vectors);
    kernel_.Loop(kernel_.Int(0), kernel_.Int(vectors), 1, [&](llvm::Value* v) {
      llvm::Value* from = Advance(origin, Plus(first, v), shape_.weight.block);
      llvm::Value* place = Advance(to, v, nest_.lanes);
      kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* tile) {
        const Corner at = CornerOf(Plus(block.first, tile));
        TransformWeightTile(Advance(from, at.image, shape_.weight.image), at,
                            Advance(place, tile, width));
      });
      kernel_.Loop(block.count, kernel_.Int(shape_.grid.block_tiles), 1,
                   [&](llvm::Value* tile) {
                     ZeroPlanes(Advance(place, tile, width),
                                shape_.grid.weight_plane);
                   });
    });
  });
}

// Positions beyond the end are zero; the last one is read in their place.
void WinogradSumsKernel::TransformWeightTile(llvm::Value* image,
                                             const Corner& at,
                                             llvm::Value* to) {
  const int64_t m = shape_.tile;
  struct Position {
    llvm::Value *offset, *inside;  // null: always
  };
  const auto positions = [&](llvm::Value* first, int64_t extent,
                             int64_t stride) {
    std::vector<Position> all;
    for (int64_t i = 0; i < m; ++i) {
      llvm::Value* index = Plus(first, kernel_.Int(i));
      llvm::Value* last = kernel_.Int(extent - 1);
      const bool whole = extent % m == 0;
      all.push_back({Times(whole ? index : Least(index, last), stride),
                     whole ? nullptr : b_.CreateICmpSLE(index, last)});
    }
    return all;
  };
  const auto rows = positions(at.row, shape_.height, shape_.weight.row);
  const auto columns = positions(at.column, shape_.width, shape_.weight.column);
  llvm::Value* zero = llvm::Constant::getNullValue(vector_type_);
  Vectors x;
  for (const Position& row : rows) {
    for (const Position& column : columns) {
      llvm::Value* value =
          LoadVector(Advance(image, Plus(row.offset, column.offset), 1));
      for (llvm::Value* inside : {row.inside, column.inside}) {
        if (inside) value = b_.CreateSelect(inside, value, zero);
      }
      x.push_back(value);
    }
  }
  x = MultiplyBothSides(kernel_, KernelMatrix(shape_.basis, m),
                        static_cast<int>(m), std::move(x));
  for (int64_t plane = 0; plane < shape_.planes(); ++plane) {
    StoreVector(x[plane], At(to, plane * shape_.grid.weight_plane));
  }
}

void WinogradSumsKernel::ZeroPlanes(llvm::Value* to, int64_t plane_stride) {
  kernel_.Loop(kernel_.Int(0), kernel_.Int(shape_.planes()), 1,
               [&](llvm::Value* plane) {
                 StoreVector(llvm::Constant::getNullValue(vector_type_),
                             Advance(to, plane, plane_stride));
               });
}

void WinogradSumsKernel::ForEachGroup(
    const Chunk& chunk,
    const std::function<void(llvm::Value*, int, int64_t)>& body) {
  const int64_t full = shape_.step.full_vector_groups();
  const int vectors = shape_.step.tile.vectors;
  llvm::Value* limit = kernel_.Int(full);
  if (full > 0) {
    kernel_.Loop(chunk.first_group, Least(chunk.last_group, limit), 1,
                 [&](llvm::Value* group) { body(group, vectors, 0); });
  }
  const int rest = static_cast<int>(nest_.vectors() - full * vectors);
  if (rest == 0) return;
  kernel_.If(b_.CreateICmpUGT(chunk.last_group, limit),
             [&] { body(limit, rest, nest_.tail_lanes()); });
}

void WinogradSumsKernel::EmitProducts(const Chunk& chunk, const Block& block) {
  const WinogradSumsGrid& grid = shape_.grid;
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(shape_.planes()), 1, [&](llvm::Value* plane) {
        kernel_.Loop(
            chunk.first_block, chunk.last_block, 1, [&](llvm::Value* channels) {
              llvm::Value* data =
                  Advance(DataOf(chunk, channels), plane, grid.data_plane);
              ForEachGroup(
                  chunk, [&](llvm::Value* group, int vectors, int64_t) {
                    llvm::Value* weight = Advance(WeightOf(chunk, group), plane,
                                                  grid.weight_plane);
                    llvm::Value* sums = Advance(SumsOf(chunk, channels, group),
                                                plane, grid.sums_plane);
                    MultiplyBlock(block, data, weight, sums, vectors);
                  });
            });
      });
}

void WinogradSumsKernel::MultiplyBlock(const Block& block, llvm::Value* data,
                                       llvm::Value* weight, llvm::Value* sums,
                                       int vectors) {
  const Nest& nest = shape_.products;
  // A loop of no or one round, which carries the sums so far.
  llvm::Value* again =
      b_.CreateZExt(b_.CreateNot(block.is_first), b_.getInt64Ty());
  for (const TileRun& run :
       SplitPixels(1, nest_.lanes, shape_.step.tile.pixels)) {
    kernel_.Loop(
        kernel_.Int(0), kernel_.Int(run.count), 1, [&](llvm::Value* i) {
          MicroKernel tile(kernel_, nest, {run.width, 1, vectors});
          llvm::Value* first =
              Plus(kernel_.Int(run.first), Times(i, run.width));
          llvm::Value* place = Advance(sums, first, nest.columns.output_stride);
          const auto sums_of_block =
              tile.SumsOfMain({Advance(data, first, 1), weight},
                              tile.AllOf(nest.main.axes[0].extent));
          tile.Store(
              place,
              kernel_.Loop(kernel_.Int(0), again, 1, sums_of_block,
                           [&](llvm::Value*, const KernelFunction::Carried&) {
                             return tile.Plus(tile.Load(place), sums_of_block);
                           }));
        });
  }
}

void WinogradSumsKernel::EmitOutputs(const Chunk& chunk) {
  const int64_t lanes = nest_.lanes;
  const Nest& nest = shape_.products;
  kernel_.Loop(
      chunk.first_block, chunk.last_block, 1, [&](llvm::Value* channels) {
        llvm::Value* first = Times(channels, lanes);
        llvm::Value* count =
            Least(b_.CreateSub(kernel_.Int(shape_.channels), first),
                  kernel_.Int(lanes));
        ForEachGroup(
            chunk, [&](llvm::Value* group, int vectors, int64_t tail_lanes) {
              llvm::Value* sums = SumsOf(chunk, channels, group);
              llvm::Value* vector = Times(group, shape_.step.tile.vectors);
              const int whole = tail_lanes > 0 ? vectors - 1 : vectors;
              kernel_.Loop(kernel_.Int(0), count, 1, [&](llvm::Value* c) {
                llvm::Value* row = Advance(sums, c, nest.columns.output_stride);
                llvm::Value* channel = Plus(first, c);
                kernel_.Loop(kernel_.Int(0), kernel_.Int(whole), 1,
                             [&](llvm::Value* v) {
                               EmitOutput(chunk, channel, Plus(vector, v),
                                          Advance(row, v, lanes), 0);
                             });
                if (tail_lanes == 0) return;
                EmitOutput(chunk, channel, Plus(vector, kernel_.Int(whole)),
                           At(row, whole * lanes), tail_lanes);
              });
            });
      });
}

void WinogradSumsKernel::EmitOutput(const Chunk& chunk, llvm::Value* channel,
                                    llvm::Value* vector, llvm::Value* sums,
                                    int64_t tail_lanes) {
  Vectors x;
  for (int64_t plane = 0; plane < shape_.planes(); ++plane) {
    x.push_back(LoadVector(At(sums, plane * shape_.grid.sums_plane)));
  }
  x = MultiplyBothSides(kernel_, OutputMatrix(shape_.basis, shape_.kernel),
                        static_cast<int>(shape_.window()), std::move(x));
  const size_t operands = shape_.step.operands.size();
  llvm::Value* output =
      At(kernel_.operand(static_cast<int>(operands) - 1), nest_.output_base);
  std::vector<llvm::Value*> outer;
  if (!nest_.outer.empty()) {
    outer.push_back(chunk.part);
    output = Advance(output, chunk.part, nest_.outer[0].output_stride);
  }
  output = Advance(output, channel, nest_.planes[0].output_stride);
  output = Advance(output, vector, nest_.output_vector_stride);
  const TileShape tile = {shape_.kernel, shape_.kernel, 1};
  epilogue_.Write(tile,
                  {outer, {channel}, kernel_.Int(0), kernel_.Int(0), vector},
                  MicroKernel(kernel_, nest_, tile), tail_lanes, x, output);
}

llvm::Value* WinogradSumsKernel::DataOf(const Chunk& chunk,
                                        llvm::Value* channels) {
  return Advance(data_, b_.CreateSub(channels, chunk.first_block),
                 shape_.grid.block_tiles * nest_.lanes);
}

llvm::Value* WinogradSumsKernel::WeightOf(const Chunk& chunk,
                                          llvm::Value* group) {
  return Advance(weight_, b_.CreateSub(group, chunk.first_group),
                 shape_.grid.block_tiles * shape_.products.panel_width());
}

llvm::Value* WinogradSumsKernel::SumsOf(const Chunk& chunk,
                                        llvm::Value* channels,
                                        llvm::Value* group) {
  const int64_t one = nest_.lanes * shape_.products.panel_width();
  llvm::Value* sums = Advance(sums_, b_.CreateSub(group, chunk.first_group),
                              one * shape_.grid.chunk_blocks);
  return Advance(sums, b_.CreateSub(channels, chunk.first_block), one);
}

llvm::Value* WinogradSumsKernel::Origin(
    int operand, const WinogradSumsShape::Strides& strides,
    const Chunk& chunk) {
  return Advance(At(kernel_.operand(operand), strides.base), chunk.part,
                 strides.part);
}

WinogradSumsKernel::Corner WinogradSumsKernel::CornerOf(llvm::Value* tile) {
  const auto take = [&](int64_t extent) {
    llvm::Value* part = b_.CreateURem(tile, kernel_.Int(extent));
    tile = b_.CreateUDiv(tile, kernel_.Int(extent));
    return part;
  };
  llvm::Value* column = Times(take(shape_.grid.tile_columns), shape_.tile);
  llvm::Value* row = Times(take(shape_.grid.tile_rows), shape_.tile);
  return {tile, row, column};
}

}  // namespace mxc::contraction
