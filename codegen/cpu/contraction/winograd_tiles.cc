// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_tiles.h"

namespace mxc::contraction {

TileBlock BlockTiles::BlockAt(llvm::Value* index) {
  const WinogradGrid& grid = shape_.grid;
  struct Range {
    llvm::Value *first, *count, *is_last;
  };
  const auto take = [&](const WinogradGrid::Cut& cut) -> Range {
    if (cut.parts() == 1) {
      return {kernel_.Int(0), kernel_.Int(cut.size), kernel_.Int(1)};
    }
    llvm::Value* parts = kernel_.Int(cut.parts());
    llvm::Value* part = b_.CreateURem(index, parts);
    index = b_.CreateUDiv(index, parts);
    llvm::Value* is_last = b_.CreateICmpEQ(part, kernel_.Int(cut.parts() - 1));
    return {Times(part, cut.size),
            b_.CreateSelect(is_last, kernel_.Int(cut.last()),
                            kernel_.Int(cut.size)),
            b_.CreateZExt(is_last, b_.getInt64Ty())};
  };
  const Range columns = take(grid.tile_columns), rows = take(grid.tile_rows);
  const Range images = take(grid.images);
  TileBlock block;
  block.first =
      Plus(Times(Plus(Times(images.first, grid.rows.tiles), rows.first),
                 grid.columns.tiles),
           columns.first);
  block.images = images.count;
  block.rows = rows.count;
  block.columns = columns.count;
  block.corner = {images.first, Times(rows.first, grid.rows.each.outputs),
                  Times(columns.first, grid.columns.each.outputs)};
  block.bottom = grid.rows.is_cut() ? rows.is_last : kernel_.Int(0);
  block.right = grid.columns.is_cut() ? columns.is_last : kernel_.Int(0);
  return block;
}

llvm::Value* BlockTiles::Count(const TileBlock& block) {
  return b_.CreateMul(block.images, b_.CreateMul(block.rows, block.columns));
}

std::array<llvm::Value*, 4> BlockTiles::PlacesOf(const TileBlock& block) {
  llvm::Value* wide = b_.CreateSub(block.columns, block.right);
  llvm::Value* tall = b_.CreateSub(block.rows, block.bottom);
  const auto tiles = [&](llvm::Value* rows, llvm::Value* columns) {
    return b_.CreateMul(block.images, b_.CreateMul(rows, columns));
  };
  llvm::Value* inside = tiles(block.bottom, wide);
  llvm::Value* right = Plus(inside, tiles(tall, wide));
  llvm::Value* both = Plus(right, tiles(tall, block.right));
  return {inside, right, both, Count(block)};
}

TileKind BlockTiles::KindOf(bool is_bottom, bool is_right) const {
  const TileAxis &rows = shape_.grid.rows, &columns = shape_.grid.columns;
  TileKind kind;
  kind.is_bottom = is_bottom;
  kind.is_right = is_right;
  kind.down = is_bottom ? rows.last : rows.each;
  kind.across = is_right ? columns.last : columns.each;
  kind.rows = shape_.PointsOf(rows, kind.down);
  kind.columns = shape_.PointsOf(columns, kind.across);
  return kind;
}

void BlockTiles::Each(const TileBlock& block, const Body& body) {
  const bool bottom = shape_.grid.rows.is_cut();
  const bool right = shape_.grid.columns.is_cut();
  const auto places = PlacesOf(block);
  if (bottom) EachOf(KindOf(true, false), block, kernel_.Int(0), body);
  EachOf(KindOf(false, false), block, places[0], body);
  if (right) EachOf(KindOf(false, true), block, places[1], body);
  if (bottom && right) EachOf(KindOf(true, true), block, places[2], body);
}

void BlockTiles::EachOf(const TileKind& kind, const TileBlock& block,
                        llvm::Value* place, const Body& body) {
  const WinogradGrid& grid = shape_.grid;
  llvm::Value* tall = b_.CreateSub(block.rows, block.bottom);
  llvm::Value* wide = b_.CreateSub(block.columns, block.right);
  llvm::Value* rows = kind.is_bottom ? block.bottom : tall;
  llvm::Value* columns = kind.is_right ? block.right : wide;
  const TileCorner& first = block.corner;
  // Of tile `i` along an axis, behind `before` larger ones or from 0 on.
  const auto at = [&](llvm::Value* origin, llvm::Value* i, bool is_last,
                      llvm::Value* before, int64_t outputs) {
    return Plus(origin, Times(is_last ? Plus(before, i) : i, outputs));
  };
  kernel_.Loop(kernel_.Int(0), block.images, 1, [&](llvm::Value* image) {
    kernel_.Loop(kernel_.Int(0), rows, 1, [&](llvm::Value* i) {
      llvm::Value* line = Plus(b_.CreateMul(image, rows), i);
      llvm::Value* tile = Plus(place, b_.CreateMul(line, columns));
      llvm::Value* row =
          at(first.row, i, kind.is_bottom, tall, grid.rows.each.outputs);
      kernel_.Loop(kernel_.Int(0), columns, 1, [&](llvm::Value* j) {
        body(kind,
             {Plus(first.image, image), row,
              at(first.column, j, kind.is_right, wide,
                 grid.columns.each.outputs)},
             Plus(tile, j));
      });
    });
  });
}

TileCorner BlockTiles::CornerOf(llvm::Value* tile) {
  const TileAxis &rows = shape_.grid.rows, &columns = shape_.grid.columns;
  const auto take = [&](const TileAxis& axis) {
    llvm::Value* part = b_.CreateURem(tile, kernel_.Int(axis.tiles));
    tile = b_.CreateUDiv(tile, kernel_.Int(axis.tiles));
    return Times(part, axis.each.outputs);
  };
  llvm::Value* column = take(columns);
  llvm::Value* row = take(rows);
  return {tile, row, column};
}

}  // namespace mxc::contraction
