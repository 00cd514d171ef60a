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
      lines_(At(products_, shape.planes() * shape.grid.product_plane)),
      epilogue_(kernel, shape.step) {}

void WinogradKernel::Emit() {
  kernel_.Loop(kernel_.begin(), kernel_.end(), 1,
               [&](llvm::Value* task) { EmitTask(task); });
}

void WinogradKernel::EmitTask(llvm::Value* task) {
  const WinogradGrid& grid = shape_.grid;
  llvm::Value* index = BlockOf(task);
  llvm::Value* chunk = b_.CreateURem(task, kernel_.Int(grid.channel_chunks));
  llvm::Value* full = kernel_.Int(grid.block_tiles);
  Block block;
  block.first = Times(index, grid.block_tiles);
  llvm::Value* rest = b_.CreateSub(kernel_.Int(grid.tiles), block.first);
  const bool all_full = grid.tiles % grid.block_tiles == 0;
  block.count = all_full ? full : Least(rest, full);
  block.is_full = all_full ? b_.getTrue() : b_.CreateICmpEQ(block.count, full);
  const int64_t groups = shape_.step.vector_groups();
  block.first_group = Part(chunk, grid.channel_chunks, groups);
  block.last_group =
      Part(Plus(chunk, kernel_.Int(1)), grid.channel_chunks, groups);
  SetNext(task, index, block);
  ZeroHalo(index, block.first_group, block.last_group);
  // The task before left the same block's data.
  llvm::Value* is_new = b_.CreateOr(b_.CreateICmpEQ(task, kernel_.begin()),
                                    b_.CreateICmpEQ(chunk, kernel_.Int(0)));
  kernel_.If(is_new, [&] { TransformData(block); });
  EmitGroups(block);
}

llvm::Value* WinogradKernel::BlockOf(llvm::Value* task) {
  return b_.CreateUDiv(task, kernel_.Int(shape_.grid.channel_chunks));
}

// The next task's windows, unless they are this task's.
void WinogradKernel::SetNext(llvm::Value* task, llvm::Value* index,
                             Block& block) {
  const WinogradGrid& grid = shape_.grid;
  llvm::Value* next = Plus(task, kernel_.Int(1));
  llvm::Value* next_index = BlockOf(next);
  block.next = Times(next_index, grid.block_tiles);
  llvm::Value* count = Least(b_.CreateSub(kernel_.Int(grid.tiles), block.next),
                             kernel_.Int(grid.block_tiles));
  llvm::Value* is_other = b_.CreateAnd(b_.CreateICmpSLT(next, kernel_.end()),
                                       b_.CreateICmpNE(next_index, index));
  block.next_windows = b_.CreateSelect(
      is_other, Times(count, shape_.data_blocks()), kernel_.Int(0));
}

void WinogradKernel::TransformData(const Block& block) {
  const int64_t lanes = nest_.lanes;
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(shape_.data_blocks()), 1,
      [&](llvm::Value* channels) {
        llvm::Value* to =
            Advance(data_, channels, shape_.grid.block_tiles * lanes);
        kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* tile) {
          TransformTile(WindowOf(Plus(block.first, tile), channels),
                        Advance(to, tile, lanes));
        });
      });
}

llvm::Value* WinogradKernel::WindowOf(llvm::Value* tile,
                                      llvm::Value* channels) {
  const Corner at = CornerOf(tile);
  llvm::Value* window = At(kernel_.operand(0), shape_.data_base);
  window = Advance(window, channels, shape_.data_block);
  window = Advance(window, at.image, shape_.data_image);
  window = Advance(window, at.row, shape_.data_row);
  return Advance(window, at.column, shape_.data_column);
}

void WinogradKernel::TransformTile(llvm::Value* window, llvm::Value* to) {
  const int64_t rows = shape_.window[0], columns = shape_.window[1];
  const int64_t lanes = nest_.lanes, plane = shape_.grid.data_plane;
  const auto matrix = DataMatrix(shape_.basis);
  Lines lines = {window, shape_.data_row, shape_.data_column};
  if (rows > 1) {
    const bool last = columns == 1;
    TransformLines(
        matrix, columns, {window, shape_.data_column, shape_.data_row},
        last ? Lines{to, 0, plane} : Lines{lines_, lanes, columns * lanes});
    lines = {lines_, columns * lanes, lanes};
  }
  if (columns > 1) {
    TransformLines(matrix, rows, lines, {to, columns * plane, plane});
  }
}

// A loop over `count` lines of vectors: registers hold no more than one.
void WinogradKernel::TransformLines(std::span<const double> matrix,
                                    int64_t count, const Lines& from,
                                    const Lines& to) {
  kernel_.Loop(kernel_.Int(0), kernel_.Int(count), 1, [&](llvm::Value* line) {
    llvm::Value* source = Advance(from.base, line, from.line);
    Vectors x;
    for (int64_t i = 0; i < shape_.side(); ++i) {
      x.push_back(LoadVector(At(source, i * from.entry)));
    }
    x = Multiply(kernel_, matrix, x);
    llvm::Value* place = Advance(to.base, line, to.line);
    for (size_t i = 0; i < x.size(); ++i) {
      StoreVector(x[i], At(place, static_cast<int64_t>(i) * to.entry));
    }
  });
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
    EmitOutputs(block, Plus(first, v), Advance(products_, v, stride), 0);
  });
  if (tail_lanes == 0) return;
  EmitOutputs(block, Plus(first, kernel_.Int(whole)),
              At(products_, whole * stride), tail_lanes);
}

// The last row and column of planes are of tiles' last outputs alone.
void WinogradKernel::EmitProducts(const Block& block, llvm::Value* group,
                                  int vectors) {
  const WinogradGrid& grid = shape_.grid;
  const int64_t rows = shape_.window[0], columns = shape_.window[1];
  const auto plane_row = [&](llvm::Value* row, int64_t tile_rows) {
    const auto plane = [&](llvm::Value* column, int64_t tile_columns) {
      EmitPlane(block, group, vectors, Plus(Times(row, columns), column),
                {tile_rows, tile_columns});
    };
    const int64_t cut = grid.cuts_columns ? 1 : 0;
    kernel_.Loop(
        kernel_.Int(0), kernel_.Int(columns - cut), 1,
        [&](llvm::Value* column) { plane(column, grid.tile_columns); });
    if (cut) plane(kernel_.Int(columns - 1), grid.tile_columns - 1);
  };
  const int64_t cut = grid.cuts_rows ? 1 : 0;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(rows - cut), 1,
               [&](llvm::Value* row) { plane_row(row, grid.tile_rows); });
  if (cut) plane_row(kernel_.Int(rows - 1), grid.tile_rows - 1);
}

void WinogradKernel::EmitPlane(const Block& block, llvm::Value* group,
                               int vectors, llvm::Value* plane,
                               const Needed& needed) {
  const WinogradGrid& grid = shape_.grid;
  const Nest& nest = shape_.products;
  FetchAhead(block, group, vectors, plane);
  llvm::Value* weight = Advance(kernel_.operand(1), group, nest.panel_stride);
  weight = Advance(weight, plane, shape_.channels * nest.panel_width());
  const Factors factors = {Advance(data_, plane, grid.data_plane), weight,
                           Advance(products_, plane, grid.product_plane)};
  kernel_.If(
      block.is_full,
      [&] { MultiplyPlane(grid.block_tiles, needed, vectors, factors); },
      [&] {
        MultiplyPlane(grid.tiles % grid.block_tiles, needed, vectors, factors);
      });
}

void WinogradKernel::MultiplyPlane(int64_t tiles, const Needed& needed,
                                   int vectors, const Factors& factors) {
  const WinogradGrid& grid = shape_.grid;
  const int64_t of_image = grid.tile_rows * grid.tile_columns;
  if (needed.rows * needed.columns == 0) return;
  if (needed.rows * needed.columns == of_image) {
    return MultiplyRectangle(1, tiles, vectors, factors);
  }
  const int64_t images = tiles / of_image;
  if (needed.rows == grid.tile_rows) {
    return MultiplyRectangle(images * needed.rows, needed.columns, vectors,
                             factors);
  }
  const bool whole = needed.columns == grid.tile_columns;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(images), 1, [&](llvm::Value* image) {
    const Factors part = {
        Advance(factors.data, image, of_image * nest_.lanes), factors.weight,
        Advance(factors.products, image, of_image * nest_.lanes)};
    MultiplyRectangle(whole ? 1 : needed.rows,
                      whole ? needed.rows * needed.columns : needed.columns,
                      vectors, part);
  });
}

// Each register tile fetches a part of the next plane's weights.
void WinogradKernel::MultiplyRectangle(int64_t rows, int64_t columns,
                                       int vectors, const Factors& factors) {
  const Nest& nest = shape_.products;
  const auto runs = SplitPixels(rows, columns, shape_.step.tile.pixels);
  int64_t register_tiles = 0;
  for (const TileRun& run : runs) {
    register_tiles += run.count * DivideUp(rows, run.rows);
  }
  const int64_t step_lines =
      nest.main.weight_rows * nest.panel_width() / kLineFloats;
  const int64_t lines = DivideUp(step_lines, register_tiles);
  int64_t before = 0;
  const auto multiply = [&](const TileShape& shape, llvm::Value* row,
                            llvm::Value* column, llvm::Value* number) {
    llvm::Value* line =
        Least(Times(number, lines),
              kernel_.Int(std::max<int64_t>(0, step_lines - lines)));
    llvm::Value* first = Plus(Times(row, shape_.grid.tile_columns), column);
    MultiplyTile({shape.width, shape.rows, vectors}, first, line, lines,
                 factors);
  };
  for (const TileRun& run : runs) {
    const int64_t whole = rows / run.rows, rest = rows % run.rows;
    kernel_.Loop(
        kernel_.Int(0), kernel_.Int(run.count), 1, [&](llvm::Value* i) {
          llvm::Value* column =
              Plus(kernel_.Int(run.first), Times(i, run.width));
          llvm::Value* number =
              Plus(kernel_.Int(before), Times(i, DivideUp(rows, run.rows)));
          kernel_.Loop(kernel_.Int(0), kernel_.Int(whole), 1,
                       [&](llvm::Value* j) {
                         multiply({run.width, run.rows, vectors},
                                  Times(j, run.rows), column, Plus(number, j));
                       });
          if (rest == 0) return;
          multiply({run.width, rest, vectors}, kernel_.Int(whole * run.rows),
                   column, Plus(number, kernel_.Int(whole)));
        });
    before += run.count * DivideUp(rows, run.rows);
  }
}

void WinogradKernel::MultiplyTile(const TileShape& shape, llvm::Value* first,
                                  llvm::Value* line, int64_t lines,
                                  const Factors& factors) {
  const Nest& nest = shape_.products;
  const int64_t blocked = shape_.channels / nest_.lanes * nest_.lanes;
  MicroKernel tile(kernel_, nest, shape);
  MicroKernel::Source source = {Advance(factors.data, first, nest_.lanes),
                                factors.weight};
  const MicroKernel::Source rest = {
      source.data, At(factors.weight, blocked * nest.panel_width())};
  source.ahead = Plus(kernel_.Int(shape_.channels * nest.panel_width()),
                      Times(line, kLineFloats));
  source.ahead_lines = lines;
  auto sums =
      tile.AddMain(source, kernel_.Int(nest.main.axes[0].extent), tile.Zeros());
  tile.Store(Advance(factors.products, first, nest_.lanes),
             tile.AddTail(rest, std::move(sums)));
}

// Brings the next block's windows and the lines of this group's outputs closer,
// some of their rows beside each plane's products: more at once would keep the
// products' own loads waiting.
void WinogradKernel::FetchAhead(const Block& block, llvm::Value* group,
                                int vectors, llvm::Value* plane) {
  const WinogradGrid& grid = shape_.grid;
  const Extents &n = shape_.window, &m = shape_.outputs;
  const auto take = [&](llvm::Value*& i, int64_t extent) {
    llvm::Value* part = b_.CreateURem(i, kernel_.Int(extent));
    i = b_.CreateUDiv(i, kernel_.Int(extent));
    return part;
  };
  if (grid.blocks > 1) {
    const int64_t groups =
        std::max<int64_t>(1, shape_.step.vector_groups() / grid.channel_chunks);
    const int64_t rows = grid.block_tiles * shape_.data_blocks() * n[0];
    llvm::Value* planes_before =
        Times(b_.CreateSub(group, block.first_group), shape_.planes());
    EachOf(Plus(planes_before, plane), DivideUp(rows, groups * shape_.planes()),
           Times(block.next_windows, n[0]), [&](llvm::Value* i) {
             llvm::Value* row = take(i, n[0]);
             llvm::Value* channels = take(i, shape_.data_blocks());
             llvm::Value* window = WindowOf(Plus(block.next, i), channels);
             // The first columns are the last ones of the tile before.
             FetchPixels(At(Advance(window, row, shape_.data_row),
                            (n[1] - m[1]) * shape_.data_column),
                         m[1], /*to_write=*/false);
           });
  }
  EachOf(plane, DivideUp(grid.block_tiles * vectors * m[0], shape_.planes()),
         Times(block.count, vectors * m[0]), [&](llvm::Value* i) {
           llvm::Value* row = take(i, m[0]);
           llvm::Value* v = take(i, vectors);
           llvm::Value* first =
               OutputOf(CornerOf(Plus(block.first, i)),
                        Plus(Times(group, shape_.step.tile.vectors), v));
           FetchPixels(Advance(first, row, nest_.rows.output_stride), m[1],
                       /*to_write=*/true);
         });
}

// body(i) for `each` of 0 <= i < count in each turn.
void WinogradKernel::EachOf(llvm::Value* turn, int64_t each, llvm::Value* count,
                            const std::function<void(llvm::Value*)>& body) {
  llvm::Value* first = Times(turn, each);
  kernel_.Loop(first, Least(Plus(first, kernel_.Int(each)), count), 1, body);
}

void WinogradKernel::FetchPixels(llvm::Value* first, int64_t count,
                                 bool to_write) {
  for (int64_t at = 0; at < count * nest_.lanes; at += kLineFloats) {
    Fetch(At(first, at), to_write);
  }
}

void WinogradKernel::EmitOutputs(const Block& block, llvm::Value* vector,
                                 llvm::Value* products, int64_t tail_lanes) {
  const int64_t columns = shape_.window[1], lanes = nest_.lanes;
  const int64_t plane = shape_.grid.product_plane;
  kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* tile) {
    llvm::Value* from = Advance(products, tile, lanes);
    Lines sums = {from, columns * plane, plane};
    if (shape_.window[0] > 1) {
      TransformLines(OutputMatrix(shape_.basis, shape_.outputs[0]), columns,
                     {from, plane, columns * plane},
                     {lines_, lanes, columns * lanes});
      sums = {lines_, columns * lanes, lanes};
    }
    WriteTile(CornerOf(Plus(block.first, tile)), sums, vector, tail_lanes);
  });
}

// What of the tile lies inside of the output; its rows are `sums`.
void WinogradKernel::WriteTile(const Corner& corner, const Lines& sums,
                               llvm::Value* vector, int64_t tail_lanes) {
  const int64_t m = shape_.outputs[1], n = shape_.window[1];
  const auto inside = [&](int64_t extent, llvm::Value* first,
                          int64_t side) -> llvm::Value* {
    if (extent % side == 0) return kernel_.Int(side);
    return Least(b_.CreateSub(kernel_.Int(extent), first), kernel_.Int(side));
  };
  llvm::Value* columns = inside(shape_.width, corner.column, m);
  llvm::Value* outputs = At(lines_, shape_.planes() * nest_.lanes);
  kernel_.Loop(
      kernel_.Int(0), inside(shape_.height, corner.row, shape_.outputs[0]), 1,
      [&](llvm::Value* i) {
        const Corner row = {corner.image, Plus(corner.row, i), corner.column};
        llvm::Value* line = Advance(sums.base, i, sums.line);
        Vectors x;
        for (int64_t j = 0; j < n; ++j) {
          x.push_back(LoadVector(At(line, j * sums.entry)));
        }
        if (n > 1) x = Multiply(kernel_, OutputMatrix(shape_.basis, m), x);
        kernel_.If(
            b_.CreateICmpEQ(columns, kernel_.Int(m)),
            [&] { WriteRow(row, x, vector, tail_lanes); },
            [&] {
              for (int64_t j = 0; j < m; ++j) {
                StoreVector(x[j], At(outputs, j * nest_.lanes));
              }
              kernel_.Loop(kernel_.Int(0), columns, 1, [&](llvm::Value* j) {
                WriteRow({row.image, row.row, Plus(row.column, j)},
                         {LoadVector(Advance(outputs, j, nest_.lanes))}, vector,
                         tail_lanes);
              });
            });
      });
}

void WinogradKernel::WriteRow(const Corner& corner, const Vectors& values,
                              llvm::Value* vector, int64_t tail_lanes) {
  const TileShape tile = {static_cast<int64_t>(values.size()), 1, 1};
  epilogue_.Write(tile, {{corner.image}, {}, corner.row, corner.column, vector},
                  MicroKernel(kernel_, nest_, tile), tail_lanes, values,
                  OutputOf(corner, vector));
}

llvm::Value* WinogradKernel::OutputOf(const Corner& corner,
                                      llvm::Value* vector) {
  llvm::Value* output = At(Output(), nest_.output_base);
  output = Advance(output, corner.image, nest_.outer[0].output_stride);
  output = Advance(output, vector, nest_.output_vector_stride);
  output = Advance(output, corner.row, nest_.rows.output_stride);
  return Advance(output, corner.column, nest_.columns.output_stride);
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
  llvm::Value* column =
      Times(take(shape_.grid.tile_columns), shape_.outputs[1]);
  llvm::Value* row = Times(take(shape_.grid.tile_rows), shape_.outputs[0]);
  return {tile, row, column};
}

llvm::Value* WinogradKernel::Output() {
  const size_t operands = shape_.step.operands.size();
  return kernel_.operand(static_cast<int>(operands) - 1);
}

}  // namespace mxc::contraction
