// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_kernel.h"

#include <algorithm>

#include "codegen/cpu/contraction/plane_work.h"
#include "codegen/cpu/contraction/tile_transform.h"
#include "ir/support/division.h"

namespace mxc::contraction {
WinogradKernel::WinogradKernel(KernelFunction& kernel,
                               const WinogradShape& shape)
    : FlatMemory(kernel, shape.step.nest.types.sum, shape.step.nest.lanes),
      shape_(shape),
      nest_(shape.step.nest),
      input_(kernel, nest_.types.data, nest_.lanes),
      data_(At(kernel.scratch(), LineElements(shape.step.nest.types.sum))),
      products_(At(data_, shape.planes() * shape.grid.data_plane)),
      lines_(At(products_, shape.planes() * shape.grid.product_plane)),
      tiles_(kernel, shape),
      multiply_(kernel, shape.products, shape.step.tile.pixels),
      outputs_(kernel, shape, lines_) {}

void WinogradKernel::Emit() {
  kernel_.Loop(kernel_.begin(), kernel_.end(), 1,
               [&](llvm::Value* task) { EmitTask(task); });
}

void WinogradKernel::EmitTask(llvm::Value* task) {
  const WinogradGrid& grid = shape_.grid;
  llvm::Value* index = IndexOf(task);
  llvm::Value* chunk = b_.CreateURem(task, kernel_.Int(grid.channel_chunks));
  Block block{tiles_.BlockAt(index)};
  const int64_t groups = shape_.step.vector_groups();
  block.first_group = Part(chunk, grid.channel_chunks, groups);
  block.last_group =
      Part(Plus(chunk, kernel_.Int(1)), grid.channel_chunks, groups);
  SetNext(task, index, block);
  outputs_.ZeroHalo(index, block.first_group, block.last_group);
  FillOnce(index, [&] { TransformData(block); });
  EmitGroups(block);
}

llvm::Value* WinogradKernel::IndexOf(llvm::Value* task) {
  return b_.CreateUDiv(task, kernel_.Int(shape_.grid.channel_chunks));
}

// The next task's windows, unless they are this task's.
void WinogradKernel::SetNext(llvm::Value* task, llvm::Value* index,
                             Block& block) {
  llvm::Value* next = Plus(task, kernel_.Int(1));
  llvm::Value* next_index = IndexOf(next);
  const TileBlock following = tiles_.BlockAt(next_index);
  block.next = following.first;
  llvm::Value* is_other = b_.CreateAnd(b_.CreateICmpSLT(next, kernel_.end()),
                                       b_.CreateICmpNE(next_index, index));
  block.next_windows = b_.CreateSelect(
      is_other, Times(tiles_.Count(following), shape_.data_blocks()),
      kernel_.Int(0));
}

void WinogradKernel::TransformData(const Block& block) {
  const int64_t lanes = nest_.lanes;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(shape_.data_blocks()), 1,
               [&](llvm::Value* channels) {
                 llvm::Value* to =
                     Advance(data_, channels, shape_.grid.block_tiles * lanes);
                 tiles_.Each(block,
                             [&](const TileKind& kind, const TileCorner& corner,
                                 llvm::Value* tile) {
                               TransformTile(kind, WindowOf(corner, channels),
                                             Advance(to, tile, lanes));
                             });
               });
}

llvm::Value* WinogradKernel::WindowOf(const TileCorner& corner,
                                      llvm::Value* channels) {
  llvm::Value* window = input_.At(kernel_.operand(0), shape_.data_base);
  window = input_.Advance(window, channels, shape_.data_block);
  window = input_.Advance(window, corner.image, shape_.data_image);
  window = input_.Advance(window, corner.row, shape_.data_row);
  return input_.Advance(window, corner.column, shape_.data_column);
}

void WinogradKernel::TransformTile(const TileKind& kind, llvm::Value* window,
                                   llvm::Value* to) {
  const auto& [rows, columns] = std::pair(kind.rows, kind.columns);
  const int64_t lanes = nest_.lanes, plane = shape_.grid.data_plane;
  const int64_t plane_row = shape_.grid.columns.each.window * plane;
  const auto transform = [&](const PointRange& points) -> LineTransform {
    return {DataMatrix(shape_.basis, points.count), points.count};
  };
  to = At(to, rows.first * plane_row + columns.first * plane);
  const bool down = shape_.grid.rows.each.window > 1;
  const bool across = shape_.grid.columns.each.window > 1;
  if (down) {
    const int64_t line = columns.count * lanes;
    TransformLines(kernel_, transform(rows), columns.count,
                   {input_, window, shape_.data_column, shape_.data_row},
                   across ? VectorLines{sums_, lines_, lanes, line}
                          : VectorLines{sums_, to, 0, plane_row});
  }
  if (across) {
    TransformLines(
        kernel_, transform(columns), rows.count,
        down ? VectorLines{sums_, lines_, columns.count * lanes, lanes}
             : VectorLines{input_, window, shape_.data_row, shape_.data_column},
        {sums_, to, plane_row, plane});
  }
}

void WinogradKernel::EmitGroups(const Block& block) {
  const int64_t full = shape_.step.full_vector_groups();
  const int vectors = shape_.step.tile.vectors;
  llvm::Value* limit = kernel_.Int(full);
  if (full > 0) {
    kernel_.Loop(
        block.first_group, Least(block.last_group, limit), 1,
        [&](llvm::Value* group) { EmitGroup(block, group, vectors, 0); });
  }
  const int rest = static_cast<int>(nest_.vectors() - full * vectors);
  if (rest == 0) return;
  kernel_.If(b_.CreateICmpUGT(block.last_group, limit),
             [&] { EmitGroup(block, limit, rest, nest_.tail_lanes()); });
}

void WinogradKernel::EmitGroup(const Block& block, llvm::Value* group,
                               int vectors, int64_t tail_lanes) {
  EmitProducts(block, group, vectors);
  const int64_t stride = shape_.products.output_vector_stride;
  const int whole = tail_lanes > 0 ? vectors - 1 : vectors;
  llvm::Value* first = Times(group, shape_.step.tile.vectors);
  kernel_.Loop(kernel_.Int(0), kernel_.Int(whole), 1, [&](llvm::Value* v) {
    outputs_.Emit(block, Plus(first, v), Advance(products_, v, stride), 0);
  });
  if (tail_lanes == 0) return;
  outputs_.Emit(block, Plus(first, kernel_.Int(whole)),
                At(products_, whole * stride), tail_lanes);
}

void WinogradKernel::EmitProducts(const Block& block, llvm::Value* group,
                                  int vectors) {
  const WinogradGrid& grid = shape_.grid;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(grid.rows.each.window), 1,
               [&](llvm::Value* row) {
                 kernel_.Loop(kernel_.Int(0),
                              kernel_.Int(grid.columns.each.window), 1,
                              [&](llvm::Value* column) {
                                EmitPlane(block, group, vectors, row, column);
                              });
               });
}

void WinogradKernel::EmitPlane(const Block& block, llvm::Value* group,
                               int vectors, llvm::Value* row,
                               llvm::Value* column) {
  const WinogradGrid& grid = shape_.grid;
  const Nest& nest = shape_.products;
  llvm::Value* plane = Plus(Times(row, grid.columns.each.window), column);
  FetchAhead(block, group, vectors, plane);
  const auto places = tiles_.PlacesOf(block);
  llvm::Value* no_bottom = LeavesOut(grid.rows, row);
  llvm::Value* no_right = LeavesOut(grid.columns, column);
  llvm::Value* first = b_.CreateSelect(no_bottom, places[0], kernel_.Int(0));
  llvm::Value* last = b_.CreateSelect(
      no_right, places[1], b_.CreateSelect(no_bottom, places[2], places[3]));
  llvm::Value* count = b_.CreateSub(last, first);
  llvm::Value* weight = Advance(kernel_.operand(1), group, nest.panel_stride);
  weight = Advance(weight, plane, shape_.channels * nest.panel_width());
  const auto part = [&](llvm::Value* all, int64_t stride) {
    return Advance(Advance(all, plane, stride), first, nest_.lanes);
  };
  const PlaneProducts::Factors factors = {part(data_, grid.data_plane), weight,
                                          part(products_, grid.product_plane)};
  for (const int64_t tiles : grid.PlaneTiles()) {
    kernel_.If(b_.CreateICmpEQ(count, kernel_.Int(tiles)),
               [&] { multiply_.Emit(tiles, vectors, factors); });
  }
}

// Whether the axis' last tile is not in planes of that row or column.
llvm::Value* WinogradKernel::LeavesOut(const TileAxis& axis,
                                       llvm::Value* plane) {
  if (!axis.is_cut()) return b_.getFalse();
  const PointRange points = shape_.PointsOf(axis, axis.last);
  return b_.CreateOr(b_.CreateICmpSLT(plane, kernel_.Int(points.first)),
                     b_.CreateICmpSGE(plane, kernel_.Int(points.end())));
}

// Brings the next block's windows and the lines of this group's outputs closer,
// some of their rows beside each plane's products: more at once would keep the
// products' own loads waiting.
void WinogradKernel::FetchAhead(const Block& block, llvm::Value* group,
                                int vectors, llvm::Value* plane) {
  if (!CpuMachineOf(kernel_.target()).fetches_ahead) return;
  const WinogradGrid& grid = shape_.grid;
  const Extents n = {grid.rows.each.window, grid.columns.each.window};
  const Extents m = {grid.rows.each.outputs, grid.columns.each.outputs};
  const auto take = [&](llvm::Value*& i, int64_t extent) {
    llvm::Value* part = b_.CreateURem(i, kernel_.Int(extent));
    i = b_.CreateUDiv(i, kernel_.Int(extent));
    return part;
  };
  if (grid.blocks() > 1) {
    const int64_t groups =
        std::max<int64_t>(1, shape_.step.vector_groups() / grid.channel_chunks);
    const int64_t rows = grid.block_tiles * shape_.data_blocks() * n[0];
    llvm::Value* planes_before =
        Times(b_.CreateSub(group, block.first_group), shape_.planes());
    EachOf(Plus(planes_before, plane), DivideUp(rows, groups * shape_.planes()),
           Times(block.next_windows, n[0]), [&](llvm::Value* i) {
             llvm::Value* row = take(i, n[0]);
             llvm::Value* channels = take(i, shape_.data_blocks());
             llvm::Value* window =
                 WindowOf(tiles_.CornerOf(Plus(block.next, i)), channels);
             // The first columns are the last ones of the tile before.
             window = input_.At(input_.Advance(window, row, shape_.data_row),
                                (n[1] - m[1]) * shape_.data_column);
             FetchPixels(window, m[1], nest_.types.data, /*to_write=*/false);
           });
  }
  const int64_t lines = std::max<int64_t>(1, m[0] / shape_.maxima[0]);
  EachOf(plane, DivideUp(grid.block_tiles * vectors * lines, shape_.planes()),
         Times(tiles_.Count(block), vectors * lines), [&](llvm::Value* i) {
           llvm::Value* row = take(i, lines);
           llvm::Value* v = take(i, vectors);
           llvm::Value* first = outputs_.OutputOf(
               tiles_.CornerOf(Plus(block.first, i)),
               Plus(Times(group, shape_.step.tile.vectors), v));
           FetchPixels(outputs_.Below(first, row), m[1] / shape_.maxima[1],
                       nest_.types.output,
                       /*to_write=*/true);
         });
}

// body(i) for `each` of 0 <= i < count in each turn.
void WinogradKernel::EachOf(llvm::Value* turn, int64_t each, llvm::Value* count,
                            const std::function<void(llvm::Value*)>& body) {
  llvm::Value* first = Times(turn, each);
  kernel_.Loop(first, Least(Plus(first, kernel_.Int(each)), count), 1, body);
}

void WinogradKernel::FetchPixels(llvm::Value* first, int64_t count, DType dtype,
                                 bool to_write) {
  const ElementMemory pixels(kernel_, dtype, nest_.lanes);
  for (int64_t at = 0; at < count * nest_.lanes; at += LineElements(dtype)) {
    Fetch(pixels.At(first, at), to_write);
  }
}

}  // namespace mxc::contraction
